# SPDX-License-Identifier: Apache-2.0
"""approve-logind.py BUS: stands for logind on the bus at that socket, as far as a delay of sleep goes.

Obeys the lines of its standard input: `sleep` tells all that the host goes to sleep, and prints "released" once
nobody delays it, or "delayed" after five seconds; `wake` tells that it is awake; `imitate` connects as somebody else
and tells the holders of a delay the same; `locks N` prints "locks" once N delays are held. It prints "ready" first.
"""
import array
import os
import select
import socket
import struct
import sys
import time

MANAGER = "org.freedesktop.login1.Manager"
PATH = "/org/freedesktop/login1"
BUS, BUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"


def pad(b, to):
    return b + bytes(-len(b) % to)


def string(b, text):
    return pad(b, 4) + struct.pack("<I", len(text)) + text.encode() + b"\0"


def message(kind, serial, fields, body=b""):
    out = b""
    for code, type_, value in fields:
        out = pad(out, 8) + bytes([code, 1]) + type_.encode() + b"\0"
        if type_ == "u":
            out = pad(out, 4) + struct.pack("<I", value)
        elif type_ == "g":
            out += bytes([len(value)]) + value.encode() + b"\0"
        else:
            out = string(out, value)
    return struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(out)) + pad(out, 8) + body


class Bus:
    """One connection."""

    def __init__(self, path):
        self.s, self.serial, self.data = socket.socket(socket.AF_UNIX), 0, b""
        self.s.connect(path)
        self.s.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        self.s.sendall(b"NEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
        while self.data.count(b"\r\n") < 2:
            self.data += self.s.recv(1)
        self.data = b""
        self.call("Hello")
        self.name = self.next()[1][6]

    def send(self, kind, fields, body=b"", fds=()):
        self.serial += 1
        self.s.sendmsg([message(kind, self.serial, fields, body)],
                       [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])

    def call(self, member, signature="", body=b""):
        fields = [(1, "o", BUS_PATH), (2, "s", BUS), (3, "s", member), (6, "s", BUS)]
        self.send(1, fields + ([(8, "g", signature)] if signature else []), body)

    def tell(self, soon, to=None):
        self.send(4, [(1, "o", PATH), (2, "s", MANAGER), (3, "s", "PrepareForSleep"), (8, "g", "b")] +
                  ([(6, "s", to)] if to else []), struct.pack("<I", soon))

    def take(self, n):
        while len(self.data) < n:
            more = self.s.recv(65536)
            if not more:
                sys.exit("the bus is gone")
            self.data += more
        out, self.data = self.data[:n], self.data[n:]
        return out

    def next(self):
        """(type, {field: value}, serial, body) of the next message."""
        head = self.take(16)
        kind, body, serial, size = head[1], *struct.unpack("<III", head[4:])
        raw, at, fields = self.take(size + -size % 8), 0, {}
        while at < size:
            at += -at % 8
            code, type_ = raw[at], raw[at + 2:at + 3]
            at += 4
            if type_ == b"g":
                n, at = raw[at], at + 1
            else:
                at += -at % 4
                n, at = struct.unpack_from("<I", raw, at)[0], at + 4
            if type_ == b"u":
                fields[code] = n
                continue
            fields[code] = raw[at:at + n].decode()
            at += n + 1
        return kind, fields, serial, self.take(body)


def say(text):
    print(text, flush=True)


def main():
    bus = Bus(sys.argv[1])
    bus.call("RequestName", "su", pad(string(b"", "org.freedesktop.login1"), 4) + struct.pack("<I", 4))
    locks, typed = [], b""
    say("ready")

    def held():
        for ours in list(locks):
            if select.select([ours[0]], [], [], 0)[0]:
                os.close(ours[0])
                locks.remove(ours)
        return len(locks)

    def serve(seconds):
        if not bus.data and not select.select([bus.s], [], [], seconds)[0]:
            return
        kind, fields, serial, _ = bus.next()
        if kind != 1:
            return
        ours, theirs = os.pipe()
        locks.append((ours, fields[7]))
        bus.send(2, [(5, "u", serial), (6, "s", fields[7]), (8, "g", "h"), (9, "u", 1)], struct.pack("<I", 0), [theirs])
        os.close(theirs)

    def serve_until(test, yes, no, seconds):
        end = time.monotonic() + seconds
        while not test() and time.monotonic() < end:
            serve(0.02)
        say(yes if test() else no)

    while True:
        if select.select([0], [], [], 0.02)[0]:
            more = os.read(0, 4096)
            if not more:
                return
            typed += more
        while b"\n" in typed:
            line, typed = typed.split(b"\n", 1)
            word, *rest = line.decode().split()
            if word == "sleep":
                bus.tell(True)
                serve_until(lambda: held() == 0, "released", "delayed", 5)
            elif word == "wake":
                bus.tell(False)
                say("woken")
            elif word == "locks":
                serve_until(lambda n=int(rest[0]): held() == n, "locks", f"{len(locks)} locks", 60)
            elif word == "imitate":
                other = Bus(sys.argv[1])
                for _, who in locks:
                    other.tell(True, who)
                serve_until(lambda: held() == 0, "released", "delayed", 1)
        serve(0.02)


main()
