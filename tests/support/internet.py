#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The servers of a small internet, for tests of the network: DNS, HTTP, TLS, echo.

usage: internet.py DIR

DIR/zone   lines "NAME ADDRESS…" or "NAME CNAME"; read again at each question, so that a test can
           change it; "NAME ADDRESS… / ADDRESS…" alternates with every question
DIR/www    files that are served as /www/…
DIR/log    what was asked, one line each
DIR/cert.pem, DIR/key.pem
DIR/ready  made when all listen
"""
import http.server
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading

DIR = sys.argv[1]
LOCK = threading.Lock()
TURN = {}


def log(text):
    with LOCK, open(os.path.join(DIR, "log"), "a") as f:
        f.write(text + "\n")


def zone(name, kind):
    """Sets take turns among questions of one kind: A and AAAA are asked side by side."""
    with open(os.path.join(DIR, "zone")) as f:
        for line in f:
            words = line.split()
            if words and (words[0] == name or (
                    words[0].startswith("*.") and name.endswith(words[0][1:]))):
                sets = [[]]
                for word in words[1:]:
                    if word == "/":
                        sets.append([])
                    else:
                        sets[-1].append(word)
                TURN[name, kind] = TURN.get((name, kind), -1) + 1
                return sets[TURN[name, kind] % len(sets)]
    return None


def encode(name):
    return b"".join(bytes([len(x)]) + x.encode() for x in name.split(".")) + b"\0"


def records(name, kind, depth=0):
    """(owner, type, data) of an answer, aliases first; None: no such name."""
    found = zone(name, kind)
    if found is None:
        return None
    out = []
    for value in found:
        if ":" in value:
            if kind == 28:
                out.append((name, 28, socket.inet_pton(socket.AF_INET6, value)))
        elif value.replace(".", "").isdigit():
            if kind == 1:
                out.append((name, 1, socket.inet_aton(value)))
        elif depth < 8:
            out.append((name, 5, encode(value)))
            out += records(value, kind, depth + 1) or []
    return out


def answer(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin1"))
        at += 1 + query[at]
    name = ".".join(labels).lower()
    kind = struct.unpack(">H", query[at + 1:at + 3])[0]
    log(f"dns {name} {kind}")
    found = records(name, kind)
    out = query[:2] + struct.pack(">HHHHH", 0x8180 if found is not None else 0x8183, 1,
                                  len(found or []), 0, 0) + query[12:at + 5]
    for owner, rtype, data in found or []:
        out += encode(owner) + struct.pack(">HHIH", rtype, 1, 0, len(data)) + data
    return out


class Dns(socketserver.BaseRequestHandler):
    def handle(self):
        data, sock = self.request
        sock.sendto(answer(data), self.client_address)


class DnsTcp(socketserver.StreamRequestHandler):
    """A client comes here with a question whose answer is longer than a datagram's 512 bytes."""

    def handle(self):
        while head := self.rfile.read(2):
            reply = answer(self.rfile.read(struct.unpack(">H", head)[0]))
            self.wfile.write(struct.pack(">H", len(reply)) + reply)


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        log(f"http {self.headers.get('Host')} {self.path}")
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "http://169.254.169.254/latest/meta-data/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path.startswith("/www/"):
            try:
                with open(DIR + os.path.normpath(self.path.split("?")[0]), "rb") as f:
                    self.reply(f.read())
            except OSError:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
        elif self.path.startswith("/bytes/"):
            self.reply(b"x" * int(self.path[7:]))
        else:
            self.reply(b"hello from " + self.headers.get("Host", "?").encode() + b"\n")

    do_HEAD = do_GET

    def do_POST(self):
        left = int(self.headers.get("Content-Length", 0))
        total = 0
        while total < left:
            got = self.rfile.read(min(65536, left - total))
            if not got:
                return
            total += len(got)
        log(f"post {total}")
        self.reply(b"%d\n" % total)

    def log_message(self, *args):
        pass


class Echo(socketserver.BaseRequestHandler):
    """Says who it is first, as ssh does, then echoes."""

    def handle(self):
        log("echo")
        self.request.sendall(b"SERVER-FIRST\n")
        while True:
            data = self.request.recv(65536)
            if not data:
                return
            self.request.sendall(data)


class Eager(socketserver.StreamRequestHandler):
    """Answers each request on a connection, whatever it says about its end, as lax servers do.
    CR alone ends a line, as it does to thttpd."""

    def handle(self):
        while True:
            head = b""
            while not head.endswith((b"\r\n\r\n", b"\r\r")):
                byte = self.rfile.read(1)
                if not byte:
                    return
                head += byte
            lines = head.replace(b"\r\n", b"\r").split(b"\r")
            host = [line for line in lines if line.lower().startswith(b"host:")]
            log(f"eager {head.split()[1].decode()} {host[0].split()[1].decode() if host else '-'}")
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndone\n")


class OneTrailer(socketserver.StreamRequestHandler):
    """Reads chunks, and one line of trailers; what follows is a request (as CVE-2023-41419)."""

    def handle(self):
        while line := self.rfile.readline().strip():
            host, chunked = "-", False
            while field := self.rfile.readline().strip():
                name, _, value = field.partition(b":")
                host = value.strip().decode() if name.lower() == b"host" else host
                chunked = chunked or name.lower() == b"transfer-encoding"
            log(f"trailer {line.split()[1].decode()} {host}")
            while chunked and (size := int(self.rfile.readline(), 16)):
                self.rfile.read(size + 2)
            if chunked:
                self.rfile.readline()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndone\n")


class UdpEcho(socketserver.BaseRequestHandler):
    def handle(self):
        data, sock = self.request
        log("udp")
        sock.sendto(b"udp:" + data, self.client_address)


class Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass


class Tcp6(Tcp):
    address_family = socket.AF_INET6

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        super().server_bind()


class Udp(socketserver.ThreadingUDPServer):
    daemon_threads = True
    allow_reuse_address = True


class Tls(Tcp):
    def finish_request(self, request, client_address):
        request.settimeout(60)
        request = CONTEXT.wrap_socket(request, server_side=True)
        self.RequestHandlerClass(request, client_address, self)
        request.close()


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain(os.path.join(DIR, "cert.pem"), os.path.join(DIR, "key.pem"))
CONTEXT.sni_callback = lambda sock, name, ctx: log(f"tls {name}")

SERVERS = [
    Udp(("203.0.113.53", 53), Dns),
    Tcp(("203.0.113.53", 53), DnsTcp),
    Tcp(("0.0.0.0", 80), Web),
    Tcp6(("::", 80), Web),
    Tls(("0.0.0.0", 443), Web),
    Tcp(("0.0.0.0", 3000), Echo),
    Tcp(("0.0.0.0", 8080), Eager),
    Tcp(("0.0.0.0", 8082), OneTrailer),
    Udp(("203.0.113.10", 5000), UdpEcho),
    Udp(("203.0.113.10", 443), UdpEcho),
]


def hear(port, group):
    """What is sent to everybody, as name services of local networks are."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("", port))
    if group:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                        socket.inet_aton(group) + struct.pack("=4sI", b"", socket.if_nametoindex("wan")))
    while True:
        log(f"heard {port} {sock.recv(100).decode()}")


for place in (5353, "224.0.0.251"), (5355, "224.0.0.252"), (1900, "239.255.255.250"), (9999, None):
    threading.Thread(target=hear, args=place, daemon=True).start()
for server in SERVERS:
    threading.Thread(target=server.serve_forever, daemon=True).start()
with open(os.path.join(DIR, "ready"), "w"):
    pass
threading.Event().wait()
