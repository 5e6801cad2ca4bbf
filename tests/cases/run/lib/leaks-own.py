# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh.
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("/tmp/own.sock")
s.listen(1)
c = socket.socket(socket.AF_UNIX)
c.connect("/tmp/own.sock")
s.accept()[0].sendall(b"own\n")
print(c.recv(10).decode())
