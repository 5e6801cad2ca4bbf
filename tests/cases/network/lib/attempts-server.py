# SPDX-License-Identifier: Apache-2.0
# Part of ../attempts.sh.
# On the host: a port on every address of it, and a socket in the tree.
import socket, threading
def serve(s):
    while True:
        c = s.accept()[0]
        c.send(b"host")
        c.close()
s = socket.socket(socket.AF_INET6)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("::", 4000))
s.listen()
u = socket.socket(socket.AF_UNIX)
u.bind("led.sock")
u.listen()
threading.Thread(target=serve, args=(s,), daemon=True).start()
open("serving", "w").close()
serve(u)
