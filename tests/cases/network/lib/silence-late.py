# SPDX-License-Identifier: Apache-2.0
# Part of ../silence.sh.
import socket, threading, time
def answer(c):
    c.recv(10)
    time.sleep(12)
    c.sendall(b"late")
    c.close()
s = socket.create_server(("203.0.113.10", 80 + 2000))
while True:
    threading.Thread(target=answer, args=(s.accept()[0],), daemon=True).start()
