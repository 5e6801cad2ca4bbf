# SPDX-License-Identifier: Apache-2.0
"""Inside a session: a byte there and back as fast as it goes. The file `count` has the
number so far."""
import socket, sys, time

s = socket.create_connection(("echo.example", 3000))
s.recv(64)
n = 0
while True:
    s.sendall(b"x")
    if not s.recv(1):
        sys.exit("closed")
    n += 1
    with open("count", "w") as f:
        f.write(str(n))
    time.sleep(0.01)
