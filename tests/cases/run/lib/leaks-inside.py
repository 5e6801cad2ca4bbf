# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh.
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind("/workspace/inside.sock")
os.chmod("inside.sock", 0o777)
s.listen(5)
c = socket.socket(socket.AF_UNIX)
c.connect("/workspace/inside.sock")
s.accept()[0].sendall(b"own\n")
print(c.recv(10).decode(), flush=True)
open("inside-listens", "w")
while not os.path.exists("stop-inside"):
    s.settimeout(0.2)
    try:
        s.accept()[0].sendall(b"reached\n")
    except TimeoutError:
        pass
