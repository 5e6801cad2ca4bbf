# SPDX-License-Identifier: Apache-2.0
"""socket-memory-keep.py KIND MIB: puts so much into the buffers of sockets, then reads it back and
prints how many MiB had been kept: what a kernel drops was not."""
import socket
import sys

kind, want = sys.argv[1], int(sys.argv[2]) << 20
BUFFER, SOCKETS = 1 << 20, 1500
data = bytes(32768)


def pair(listener):
    if kind == "unix":
        return socket.socketpair()
    if kind == "udp":
        to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        to.bind(("127.0.0.1", 0))
        a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        a.connect(to.getsockname())
        return a, to
    a = socket.create_connection(listener.getsockname())
    return a, listener.accept()[0]


listener = socket.create_server(("127.0.0.1", 0)) if kind == "tcp" else None
pairs, sent = [], 0
while sent < want and len(pairs) < SOCKETS:
    a, b = pair(listener)
    pairs.append((a, b))
    for s in (a, b):
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            s.setsockopt(socket.SOL_SOCKET, option, BUFFER)
        s.setblocking(False)
    # Datagrams that nobody has room for are sent all the same.
    for _ in range(64 if kind != "udp" else 24):
        try:
            sent += a.send(data)
        except (BlockingIOError, OSError):
            break
kept = 0
for a, b in pairs:
    while True:
        try:
            n = len(b.recv(1 << 16))
        except BlockingIOError:
            break
        if n == 0:
            break
        kept += n
    a.close()
print(kept >> 20)
