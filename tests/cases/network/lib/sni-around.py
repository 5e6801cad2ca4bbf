# SPDX-License-Identifier: Apache-2.0
"""Ways around sni = require, one line each: did it end as the server would, or in a reset?"""
import socket

import hellos

HOST = b"Host: other.example\r\n\r\n"
INNER = b"GET /body HTTP/1.1\r\nConnection: close\r\n" + HOST
CHUNKED = b"POST /chunks HTTP/1.1\r\nHost: web.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n"
# A port, and what to send; each piece after an answer to the last, None for the end.
WAYS = {
    "method": (8080, b"X" * 26 + b" /method HTTP/1.1\r\n" + HOST),
    "later": (8080, b"X" * 26 + b" /first HTTP/1.1\r\nHost: web.example\r\n\r\n", b"GET /later HTTP/1.1\r\n" + HOST),
    "cr": (8080, b"GET /cr HTTP/1.1\rHost: other.example\r\r"),
    "version": (80, b"GET /version\r\n" + HOST),
    "blanks": (80, b"GET\x1c/blanks\x1dHTTP/1.1\n" + HOST),
    "end": (80, b"GET /end", None),
    "body": (80, b"GET / HTTP/1.1\r\nHost: web.example\r\nContent-Length: %d\r\n\r\n" % len(INNER) + INNER),
    "trailer": (8082, CHUNKED + b"GET /trailer HTTP/1.1\r\n" + HOST),
    "dot": (80, b"GET /dot HTTP/1.1\r\nHost: web.example.\r\n\r\n"),
    "port": (80, b"GET /port HTTP/1.1\r\nHost: web.example:9999\r\n\r\n"),
    "url": (80, b"GET http://web.example:9999/url HTTP/1.1\r\nHost: web.example\r\n\r\n"),
    "retry": (443, hellos.retried("web.example", "other.example", hellos.EARLY_DATA)),
    "old": (443, hellos.old_hello()),
    "mixed": (443, hellos.hello("Other.EXAMPLE")),
    # and some that are none
    "same": (80, b"GET /same HTTP/1.1\r\nHost: web.example:80\r\n\r\n"),
    "trailed": (8082, CHUNKED + b"\r\n"),
    "upper": (443, hellos.hello("WEB.Example")),
    "good": (443, hellos.retried("web.example", "web.example", hellos.EARLY_DATA)),
}
for name, (port, *pieces) in WAYS.items():
    s = socket.create_connection(("web.example", port))
    s.settimeout(60)
    try:
        for i, piece in enumerate(pieces):
            if piece is None:
                s.shutdown(socket.SHUT_WR)
            else:
                s.sendall(piece)
            if pieces[i + 1:] != [None]:
                s.recv(4096)
        while name in ("end", "body") and s.recv(4096):
            pass
        print(name, "ended")
    except ConnectionResetError:
        print(name, "reset")
    s.close()
