# SPDX-License-Identifier: Apache-2.0
# Part of ../many.sh.
# streams.py COUNT SIZE: opens them all, has each send SIZE bytes, reads when told to.
import os, socket, sys, time
count, size = int(sys.argv[1]), int(sys.argv[2])
held = []
for i in range(count):
    s = socket.create_connection(("web.example", 80))
    s.settimeout(120)
    s.sendall(b"GET /bytes/%d HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\n\r\n" % size)
    held.append(s)
open("held", "w").close()
for i in range(2400):
    if os.path.exists("measured"):
        break
    time.sleep(0.05)
whole = 0
for s in held:
    got = b""
    while not got.endswith(b"x" * size):
        more = s.recv(1 << 16)
        if not more:
            break
        got += more
    whole += got.count(b"x") == size
print(whole)
