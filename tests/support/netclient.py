#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attempts at the network, for tests: prints what happened in one word or line.

usage: netclient.py tcp HOST PORT          connected, or the errno's name
                    udp HOST PORT          the answer, or the errno's name
                    first HOST PORT        the first line that the server says
                    exchange HOST PORT HEX [HEX…]   sends each in turn; what came back, or the errno
                    dialog HOST PORT HEX [HEX…]  the same, each after a whole answer ("done") to the last
                    icmp HOST              "echoed", or the errno's name
                    dns TYPE NAME [tcp]    RCODE and the number of answers; NAME may hold \\DDD
                    dnsraw HEX             the answer's second word, or "nothing"
                    dnstcp HEX             the second words of the answers until it is closed
                    listen PORT            listens on 0.0.0.0, connects to itself
                    times COUNT HOST PORT  connections one after the other, each echoed on
"""
import errno
import re
import socket
import struct
import sys


def name_of(error):
    if isinstance(error, TimeoutError):
        return "TIMEOUT"
    if isinstance(error, socket.gaierror):
        return "NONAME"
    return errno.errorcode.get(error.errno, str(error))


def open_tcp(host, port):
    last = None
    for family, kind, proto, _, addr in socket.getaddrinfo(host, int(port), 0, socket.SOCK_STREAM):
        s = socket.socket(family, kind, proto)
        s.settimeout(60)
        try:
            s.connect(addr)
            return s
        except OSError as e:
            last = e
            s.close()
    raise last


def tcp(host, port):
    open_tcp(host, port).close()
    return "connected"


def first(host, port):
    return open_tcp(host, port).makefile().readline().strip()


def exchange(host, port, *data):
    s = open_tcp(host, port)
    got = b""
    for piece in data:
        s.sendall(bytes.fromhex(piece))
    try:
        s.shutdown(socket.SHUT_WR)
    except OSError as error:  # a reset that came before: recv() says so
        if error.errno != errno.ENOTCONN:
            raise
    while True:
        more = s.recv(65536)
        if not more:
            return got.decode("latin1")
        got += more


def dialog(host, port, *data):
    s = open_tcp(host, port)
    got = b""
    for count, piece in enumerate(data):
        s.sendall(bytes.fromhex(piece))
        while got.count(b"done\n") <= count:
            more = s.recv(65536)
            if not more:
                return got.decode("latin1") + "ended"
            got += more
    return got.decode("latin1")


def icmp(host):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    s.settimeout(60)
    s.sendto(struct.pack(">BBHHH", 8, 0, 0, 0, 1) + b"wardfs", (host, 0))
    return "echoed" if s.recv(100).endswith(b"wardfs") else "?"


def udp(host, port):
    family, _, _, _, addr = socket.getaddrinfo(host, int(port), 0, socket.SOCK_DGRAM)[0]
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.settimeout(60)
    s.connect(addr)
    s.send(b"x")
    return s.recv(1000).decode()


TYPES = {"A": 1, "NS": 2, "CNAME": 5, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "HTTPS": 65,
         "ANY": 255, "NULL": 10}


def ask(query, over_tcp=False):
    server = re.search(r"nameserver (\S+)", open("/etc/resolv.conf").read()).group(1)
    if over_tcp:
        s = socket.create_connection((server, 53), 60)
        # In pieces: a server must put them together.
        message = struct.pack(">H", len(query)) + query
        s.sendall(message[:5])
        s.sendall(message[5:])
        f = s.makefile("rb")
        return f.read(struct.unpack(">H", f.read(2))[0])
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(60)
    s.connect((server, 53))
    s.send(query)
    return s.recv(4096)


def dns(kind, name, how=""):
    labels = b""
    for label in name.split("."):
        raw = re.sub(rb"\\(\d{3})", lambda m: bytes([int(m.group(1))]), label.encode())
        labels += bytes([len(raw)]) + raw
    query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0"
    got = ask(query + struct.pack(">HH", TYPES[kind], 1), how == "tcp")
    return f"{got[3] & 15} {struct.unpack('>H', got[6:8])[0]}"


def dnsraw(query):
    """Behind it goes a question that is answered at once: what has no answer by then has none."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server = re.search(r"nameserver (\S+)", open("/etc/resolv.conf").read()).group(1)
    s.settimeout(60)
    s.connect((server, 53))
    s.send(bytes.fromhex(query))
    s.send(bytes.fromhex("ffff01000001000000000000") + b"\3not\7allowed\0\0\1\0\1")
    got = s.recv(4096)
    return "nothing" if got[:2] == b"\xff\xff" else got[2:4].hex()


def dnstcp(data):
    server = re.search(r"nameserver (\S+)", open("/etc/resolv.conf").read()).group(1)
    s = socket.create_connection((server, 53), 60)
    s.sendall(bytes.fromhex(data))
    s.shutdown(socket.SHUT_WR)
    f, words = s.makefile("rb"), []
    while head := f.read(2):
        words.append(f.read(struct.unpack(">H", head)[0])[2:4].hex())
    return " ".join(words) or "nothing"


def listen(port):
    s = socket.socket()
    s.bind(("0.0.0.0", int(port)))
    s.listen()
    c = socket.create_connection(("127.0.0.1", int(port)))
    a, _ = s.accept()
    c.sendall(b"own")
    return a.recv(3).decode()


def times(count, host, port):
    for i in range(int(count)):
        s = open_tcp(host, port)
        s.sendall(b"ping")
        got = b""
        while not got.endswith(b"ping"):
            more = s.recv(100)
            if not more:
                return f"ended at {i}"
            got += more
        s.close()
    return count


try:
    print({"tcp": tcp, "udp": udp, "first": first, "exchange": exchange, "dialog": dialog, "icmp": icmp,
           "dns": dns, "dnsraw": dnsraw, "dnstcp": dnstcp, "listen": listen, "times": times}[sys.argv[1]](*sys.argv[2:]))
except OSError as e:
    print(name_of(e))
    sys.exit(1)
