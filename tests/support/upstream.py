#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Upstream proxies for tests of `mode = proxy`, each in the foreground; DIR/PORT.up is made when it listens.

usage: upstream.py DIR ADDRESS PORT tap HOST PORT   passes all on to a proxy; the heads of requests
                                                    stand in DIR/PORT.log
                                    socks [login]   a SOCKS5 server; what was asked for, and with
                                                    which user and password, stands in DIR/PORT.log
                                    say HEX         answers whoever has sent something with this
"""
import os
import socket
import socketserver
import sys
import threading

DIR, ADDRESS, PORT, KIND = sys.argv[1:5]
REST = sys.argv[5:]


def log(text):
    with open(os.path.join(DIR, PORT + ".log"), "a") as f:
        f.write(text + "\n")


def pump(a, b):
    try:
        while True:
            data = a.recv(65536)
            if not data:
                break
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def both(a, b):
    thread = threading.Thread(target=pump, args=(b, a), daemon=True)
    thread.start()
    pump(a, b)
    thread.join()


def exactly(s, n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            raise OSError("ended")
        data += more
    return data


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            getattr(self, KIND)(self.request)
        except OSError:
            pass

    def tap(self, s):
        head = b""
        while b"\r\n\r\n" not in head:
            more = s.recv(4096)
            if not more:
                return
            head += more
        log(head.decode("latin1").replace("\r\n", "\n"))
        up = socket.create_connection((REST[0], int(REST[1])))
        up.sendall(head)
        both(s, up)

    def socks(self, s):
        methods = exactly(s, exactly(s, 2)[1])
        wanted = 2 if REST else 0
        if wanted not in methods:
            s.sendall(b"\5\xff")
            return
        s.sendall(bytes([5, wanted]))
        if REST:
            user = exactly(s, exactly(s, 2)[1]).decode()
            password = exactly(s, exactly(s, 1)[0]).decode()
            log(f"login {user}~{password}")
            s.sendall(b"\1\0")
        kind = exactly(s, 4)[3]
        if kind == 3:
            host = exactly(s, exactly(s, 1)[0]).decode()
        else:
            host = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6,
                                    exactly(s, 4 if kind == 1 else 16))
        port = int.from_bytes(exactly(s, 2), "big")
        log(f"connect {'name' if kind == 3 else 'address'} {host} {port}")
        try:
            up = socket.create_connection((host, port), 20)
        except OSError:
            s.sendall(b"\5\5\0\1\0\0\0\0\0\0")
            return
        # A name as the bound address: its length has to be read.
        s.sendall(b"\5\0\0\3\4here\0\0")
        both(s, up)

    def say(self, s):
        s.recv(4096)
        s.sendall(bytes.fromhex(REST[0]))
        while s.recv(4096):
            pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


server = Server((ADDRESS, int(PORT)), Handler)
with open(os.path.join(DIR, PORT + ".up"), "w"):
    pass
server.serve_forever()
