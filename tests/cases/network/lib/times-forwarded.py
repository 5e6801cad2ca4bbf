# SPDX-License-Identifier: Apache-2.0
# Part of ../times.sh.
import socket
s = socket.create_server(("127.0.0.1", 11434))
open("listening", "w").close()
c = s.accept()[0]
c.send(c.recv(1))
print("ended", c.recv(1))
