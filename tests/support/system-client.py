#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A supervisor that does to wardfs-auditd what ours does not (enforcer/ipc/helper.h, system.h).

system-client.py WHAT [ARG…]: prints what the service answered, a word a line: "failed TEXT",
"opened NAME", "started", "ready", "gone", "summary".
"""
import array
import fcntl
import os
import socket
import struct
import sys
import tempfile
import time

SOCKET = "/run/wardfs-audit/socket"
READY, FAILED, FINISH, SUMMARY, SEGMENT = 2, 3, 16, 17, 19
OPEN, OPENED, START, STARTED, DIED, RECOVER, POLICY, READ = range(64, 72)
SEAL_SEAL, SEAL_SHRINK, SEAL_GROW, SEAL_WRITE = 1, 2, 4, 8
RING_BYTES, HEADER = 1 << 18, 65536  # audit/ring.h


def text(s):
    b = s.encode()
    return struct.pack("=I", len(b)) + b


def memfd(data, seals):
    fd = os.memfd_create("x", os.MFD_CLOEXEC | 2)
    os.write(fd, data)
    fcntl.fcntl(fd, 1033, seals)
    return fd


def ring(seals=SEAL_SHRINK | SEAL_GROW | SEAL_SEAL):
    fd = os.memfd_create("ring", os.MFD_CLOEXEC | 2)
    os.posix_fallocate(fd, 0, HEADER + RING_BYTES)
    os.pwrite(fd, struct.pack("=QQ", 0x33676e6972647277, RING_BYTES), 0)
    fcntl.fcntl(fd, 1033, seals)
    return fd


def eventfd():
    return os.eventfd(0, os.EFD_NONBLOCK) if hasattr(os, "eventfd") else None


class Client:
    def __init__(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(SOCKET)
        self.sock.settimeout(120)

    def say(self, kind, body=b"", fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        for _ in range(30000):  # until there is a process that takes descriptors
            try:
                self.sock.sendmsg([struct.pack("=II", 1, kind) + body], rights)
                return
            except PermissionError:
                time.sleep(0.001)
            except (BrokenPipeError, ConnectionResetError):
                return  # what it was told stands there still

    def hear(self):
        """The next word, and the descriptor that came with it."""
        try:
            data, rights, _, _ = self.sock.recvmsg(65536, 1024)
        except ConnectionResetError:
            return "gone", None
        if not data:
            return "gone", None
        fds = array.array("i")
        for _, _, raw in rights:
            fds.frombytes(raw[:len(raw) - len(raw) % fds.itemsize])
        kind = struct.unpack_from("=I", data, 4)[0]
        if kind in (FAILED, OPENED):
            n = struct.unpack_from("=I", data, 8)[0]
            word = {FAILED: "failed ", OPENED: "opened "}[kind] + data[12:12 + n].decode()
        else:
            word = {READY: "ready", STARTED: "started", DIED: "died",
                    SUMMARY: "summary"}.get(kind, f"message {kind}")
        return word, fds[0] if fds else None

    def open(self, name="", keep=1, policy=None):
        body = text(name) + struct.pack("=IQQQQ", 1, 0, 0, 0, keep)
        self.say(OPEN, body, [policy if policy is not None else
                              memfd(b"a policy", SEAL_SHRINK | SEAL_GROW | SEAL_WRITE)])
        return self.hear()

    def start(self, rings=None, wake=None, lifeline=None):
        ends = os.pipe()
        fds = (rings or [ring() for _ in range(3)]) + [
            wake if wake is not None else eventfd(), lifeline if lifeline is not None else ends[1]]
        self.say(START, b"", fds)
        word, _ = self.hear()
        if word != "started":
            return word
        return self.hear()[0]


def plain_file():
    with tempfile.TemporaryFile() as f:
        return os.dup(f.fileno())


def main(what, *args):
    c = Client()
    if what == "open":  # NAME: no more than that
        print(c.open(args[0])[0])
        return
    if what == "session":  # NAME [KEEP]: a whole one
        word, fd = c.open(args[0], int(args[1]) if len(args) > 1 else 1)
        print(word)
        if fd is not None:
            try:
                os.write(fd, b"x")
                print("checkpoints can be written")
            except OSError:
                print("checkpoints are read-only")
        print(c.start())
        c.say(FINISH)
        print(c.hear()[0])
        return
    if what == "read":  # SESSION VERB
        c.say(READ, text(args[0]) + text(args[1]) + text(""))
        print(c.hear()[0])
        return
    if what == "policy":  # one that is not sealed
        print(c.open("policy", policy=memfd(b"a policy", SEAL_SHRINK))[0])
        return
    if what == "segment":  # a file of ours as the next segment
        c.open("segment")
        print(c.start())
        c.say(SEGMENT, struct.pack("=I", 2), [plain_file()])
        print(c.hear()[0])
        return
    if what == "rings":  # how they differ from sealed ones
        c.open("rings")
        bad = {"unsealed": lambda: ring(0), "shrinks": lambda: ring(SEAL_GROW),
               "grows": lambda: ring(SEAL_SHRINK), "readonly":
               lambda: ring(SEAL_SHRINK | SEAL_GROW | SEAL_WRITE), "file": plain_file,
               "sealed": ring}[args[0]]
        print(c.start(rings=[ring(), bad(), ring()]))
        return
    if what == "wake":  # a pipe
        c.open("wake")
        print(c.start(wake=os.pipe()[0]))
        return
    if what == "steal":  # takes each wake-up away before the writer reads it, which then waits
        c.open("steal")
        wake = eventfd()
        print(c.start(wake=wake))
        os.set_blocking(wake, True)
        for _ in range(20000):
            os.write(wake, struct.pack("=Q", 1))
            os.set_blocking(wake, False)
            try:
                os.read(wake, 8)
            except BlockingIOError:
                pass
            os.set_blocking(wake, True)
        return
    if what == "lifeline":  # a file
        c.open("lifeline")
        print(c.start(lifeline=plain_file()))
        return
    if what == "flood":  # N connections, held until stdin ends
        held, words = [c], []
        held += [Client() for _ in range(int(args[0]) - 1)]
        for one in held:
            try:
                words.append(one.open()[0].split()[0])
            except BrokenPipeError:
                words.append("failed")
        print(words.count("opened"), words.count("failed") + words.count("gone"), flush=True)
        sys.stdin.read()
        return
    sys.exit(f"{what}?")


main(*sys.argv[1:])
