# SPDX-License-Identifier: Apache-2.0
# Part of ../attacks.sh.
# Clients that begin and do not go on, many at once; then somebody who does.
import re, socket
def connect(host, port):
    s = socket.create_connection((host, port))
    s.settimeout(60)
    return s
broker = re.search(r"nameserver (\S+)", open("/etc/resolv.conf").read()).group(1)
held = []
for i in range(100):
    for port, start in ((3128, b"GET http://web.example/ HTTP/1.1\r\nHo"), (3128, b"\x05"), (53, b"\0\x20half")):
        if port == 53 and i >= 63:
            continue
        s = connect(broker, port)
        s.sendall(start)
        held.append(s)
    s = connect("web.example", 80)
    s.sendall(b"GET / HTTP/1.1\r\nHost: web.ex")
    held.append(s)
    s = connect("web.example", 443)
    s.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
    held.append(s)
s = connect("web.example", 80)
s.sendall(b"GET / HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\n\r\n")
print(s.makefile().read().split("\n")[-2])
s = connect(broker, 53)
q = bytes.fromhex("000701000001000000000000") + b"\3web\7example\0\0\1\0\1"
s.sendall(len(q).to_bytes(2, "big") + q)
print(len(s.recv(100)) > 30)
# One direction ended, the other goes on: both ways.
s = connect("echo.example", 3000)
s.sendall(b"last words\r\n")
s.shutdown(socket.SHUT_WR)
print(s.makefile().read())
