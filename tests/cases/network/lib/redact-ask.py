# SPDX-License-Identifier: Apache-2.0
# Part of ../redact.sh.
import socket
for host in b"web.example", b"other.example":
    s = socket.create_connection(("web.example", 80))
    s.settimeout(60)
    try:
        s.sendall(b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
        while s.recv(4096):
            pass
    except OSError:
        pass
