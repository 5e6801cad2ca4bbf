#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collector.py listen [--port PORT] DIR | collector.py complete DIR/NODE...

listen receives what ship.py and `wardfs audit export --to tcp:…` send, and prints the port. Each
node has a directory DIR/NODE, laid out as wardfs keeps trails:
    sessions/NAME/trail.jsonl   the records, in their order, each once
    ledger.jsonl                the node's ledger: each session's start and end
    ledger.checkpoints          what the node signed over its ledger
complete writes beside each trail the files that are copies of what trail and ledger say: `policy`
and `checkpoints`. Then `wardfs audit verify --all --key KEYS --state DIR/NODE` verifies all of it
with the node's public keys alone.

A sender says itself which node it is, and messages come in the clear. Listen on an address that
only your nodes reach, or behind a proxy of TLS. Whoever changes a trail on the way is found out.
"""
import argparse
import json
import os
import re
import socketserver
import threading

# RFC 6587, octet counting, around RFC 5424; ours says session and seq.
FRAME = re.compile(rb"(\d{1,7}) ")
HEAD = re.compile(rb'<\d+>1 \S+ (\S+) \S+ \S+ (\S+) '
                  rb'(?:-|\[\S+ session="([^"]*)" seq="(\d{1,18})"[^\]]*\]|'
                  rb'\[ledger@32473 at="(\d{1,18})"\]) ?')
# As wardfs names sessions; a node is named as hosts are. Neither leads out of the directory.
NAME = re.compile(rb"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
FRAME_MAX = 1 << 20
# Seconds that a sender may be silent.
SILENT_MAX = 600
FILES = {b"ledger": "ledger.jsonl", b"ledger.checkpoints": "ledger.checkpoints"}
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.S)
LETTERS = {"n": b"\n", "t": b"\t", "r": b"\r"}


def wrong(why, message):
    raise ValueError(f"{why}: {message[:80]!r}")


class Store:
    """Appends, and only what comes next: a gap would hide that something is missing. What came
    before, by its number or its place, is the same one sent again."""

    def __init__(self, top):
        self.top, self.lock, self.last = top, threading.Lock(), {}

    def take(self, message):
        """Whether it is of the ledger, whose sender waits to hear that all is here."""
        head = HEAD.match(message)
        if not head or not NAME.fullmatch(head[1]):
            wrong("no record", message)
        body = message[head.end():]
        if b"\n" in body:
            wrong("more than one line", message)
        node = os.path.join(self.top, head[1].decode())
        with self.lock:
            if head[2] in FILES:
                self.take_line(os.path.join(node, FILES[head[2]]), head[5], body)
                return True
            if not head[3] or not NAME.fullmatch(head[3]):
                wrong("no session", message)
            self.take_record(os.path.join(node, "sessions", head[3].decode(), "trail.jsonl"),
                             int(head[4]), body)
        return False

    def take_line(self, path, at, body):
        """Of a file that only grows: the byte where it stands on the node says where it belongs."""
        size = os.path.getsize(path) if os.path.exists(path) else 0
        if at is None or int(at) > size:
            wrong("lines before it are missing", body)
        if int(at) == size:
            self.append(path, body)
            return
        with open(path, "rb") as f:
            f.seek(int(at))
            if f.read(len(body) + 1) != body + b"\n":
                wrong("another line stands there", body)

    def take_record(self, path, seq, body):
        record = json.loads(body)
        if not isinstance(record, dict) or record.get("seq") != seq:
            wrong("its number is another", body)
        if path not in self.last:
            self.last[path] = last_seq(path)
        if seq > self.last[path] + 1:
            wrong("records before it are missing", body)
        if seq == self.last[path] + 1:
            self.append(path, body)
            self.last[path] = seq

    @staticmethod
    def append(path, line):
        """The whole line, or nothing of it."""
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "ab", buffering=0) as f:
            at = f.tell()
            line += b"\n"
            if f.write(line) != len(line):
                f.truncate(at)
                raise OSError(f"{path}: there is no room")


def last_seq(path):
    try:
        with open(path, "rb") as f:
            return max((json.loads(line)["seq"] for line in f), default=0)
    except FileNotFoundError:
        return 0


class Sender(socketserver.StreamRequestHandler):
    timeout = SILENT_MAX

    def handle(self):
        buffer, ledger = b"", False
        while data := self.request.recv(1 << 16):
            buffer += data
            while (frame := FRAME.match(buffer)) and len(buffer) >= frame.end() + int(frame[1]):
                end = frame.end() + int(frame[1])
                ledger |= self.server.store.take(buffer[frame.end():end])
                buffer = buffer[end:]
            if len(buffer) > FRAME_MAX:
                raise ValueError("a message is too long")
        if buffer:
            raise ValueError("the last message is not whole")
        if ledger:
            self.request.sendall(b"+")


def listen(args):
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    with socketserver.ThreadingTCPServer((args.address, args.port), Sender) as server:
        server.daemon_threads, server.store = True, Store(args.directory)
        print(server.server_address[1], flush=True)
        server.serve_forever()


def plain(text):
    """The bytes of an escaped text of the trail."""
    out, at = b"", 0
    for found in ESCAPE.finditer(text):
        out += text[at:found.start()].encode()
        word = found[1]
        out += (bytes([int(word[1:], 16)]) if len(word) == 3 else LETTERS.get(word, word.encode()))
        at = found.end()
    return out + text[at:].encode()


def first_policy(trail):
    """docs/audit-format.md, "The policies of a session": the sources of the first one."""
    out = b""
    with open(trail, encoding="utf-8") as f:
        for line in f:
            record = json.loads(line) if '"kind":"policy"' in line else {}
            if record.get("kind") != "policy":
                continue
            if record.get("name") != "sources":
                return out
            out += plain(record["text"])
    return out


def complete(node):
    """A name of the ledger counts only if it has a trail here."""
    notes = {}
    with open(os.path.join(node, "ledger.jsonl"), encoding="utf-8") as f:
        for line in f:
            entry = json.loads(line)
            if "checkpoint" in entry:
                notes.setdefault(entry["session"], []).append(plain(entry["checkpoint"]))
    for name in os.listdir(os.path.join(node, "sessions")):
        at = os.path.join(node, "sessions", name)
        with open(os.path.join(at, "checkpoints"), "wb") as f:
            f.write(b"".join(notes.get(name, [])))
        with open(os.path.join(at, "policy"), "wb") as f:
            f.write(first_policy(os.path.join(at, "trail.jsonl")))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("listen")
    one.add_argument("--address", default="127.0.0.1")
    one.add_argument("--port", type=int, default=0)
    one.add_argument("directory")
    verbs.add_parser("complete").add_argument("nodes", nargs="+")
    args = parser.parse_args()
    if args.verb == "listen":
        listen(args)
    for node in getattr(args, "nodes", []):
        complete(node)


main()
