# SPDX-License-Identifier: Apache-2.0
"""Asks the proxy inside for destinations, one line each: what the server said, or "refused"."""
import socket
import struct

PORT = 3000


def rest(sock):
    got = b""
    while more := sock.recv(4096):
        got += more
    return got


def http(sock, host):
    sock.sendall(b"CONNECT %s:%d HTTP/1.1\r\n\r\n" % (host.encode(), PORT))
    head, _, body = rest(sock).partition(b"\r\n\r\n")
    return body if head.startswith(b"HTTP/1.1 200") else b"refused"


def socks(sock, host):
    sock.sendall(b"\5\1\0\5\1\0\1" + socket.inet_aton(host) + struct.pack(">H", PORT))
    reply = rest(sock)
    return reply[12:] if reply[3:4] == b"\0" else b"refused"


for way, host in (http, "127.0.0.1"), (socks, "127.0.0.1"), (http, "[::1]"), (http, "0.0.0.0"), \
        (socks, "0.0.0.0"), (http, "[::]"), (http, "[::ffff:0.0.0.0]"), (http, "zero.example"), \
        (http, "zero6.example"):
    with socket.create_connection(("198.18.0.1", 3128), 60) as s:
        print(way.__name__, host, way(s, host).decode().strip())
