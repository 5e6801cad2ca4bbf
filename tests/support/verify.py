#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies trails from docs/audit-format.md alone: verify.py STATE [SESSION]

Without a session: the ledger and all sessions. Prints one line each: NAME STATE RECORDS FIRST_BAD.
Shares no code with wardfs. Exit: 0 all intact, 1 not.
"""
import fcntl
import hashlib
import json
import os
import re
import sys

LINE_MAX = 131072
WINDOW = 1048576
STEPS = 16777216
NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}"
LINE = re.compile(
    rb'(?s)(\{"v":1,"seq":(0|[1-9][0-9]*),"session":"(' + NAME.encode() +
    rb')","kind":"([a-z.]+)".*),"mac":"([0-9a-f]{64})"\}\Z')


def h(key, data):
    return hashlib.blake2b(data, key=key or b"", digest_size=32).digest()


class Line:
    def __init__(self, raw):
        self.body = None
        match = LINE.match(raw) if len(raw) < LINE_MAX else None
        if not match:
            return
        seq = int(match[2])
        if not 0 < seq < 2**64:
            return
        self.body, self.seq = match[1], seq
        self.session, self.kind = match[3].decode(), match[4].decode()
        self.mac = bytes.fromhex(match[5].decode())


def split(data):
    """The whole lines, and the length of a torn one."""
    lines = data.split(b"\n")
    torn = lines.pop()
    return [Line(raw) for raw in lines], len(torn)


class Result:
    def __init__(self):
        self.state, self.records, self.first_bad, self.gaps = "intact", 0, 0, 0

    def set(self, state, first_bad=0):
        self.state, self.first_bad = state, first_bad


def suspects(res, lines, expected, prev, key_of, session, limit, known):
    bad, claims, genuine = False, [], 0
    window = lines[:WINDOW]
    for place, line in enumerate(window):
        if line.body is None or (session and line.session != session) or line.seq < expected or (
                limit and line.seq > limit):
            bad = True
        else:
            claims.append((line.seq, place, line))
    claims.sort(key=lambda c: c[:2])
    seq, written, computed = expected - 1, prev, prev
    for claim, _, line in claims:
        if claim == seq:
            bad = True
            continue
        if claim != seq + 1:
            seq, written, computed = claim, line.mac, line.mac
            continue
        if session and claim - expected > STEPS:
            bad = True
            break
        key = key_of(line)
        first = h(key, written + line.body) if key else None
        good = key and line.mac in (first, h(key, computed + line.body))
        genuine += bool(good)
        bad |= not good
        seq, written = claim, line.mac
        computed = line.mac if good or not key else first
    seqs = [c[0] for c in claims]
    missing = next((s for s in range(expected, max(seqs, default=0)) if s not in set(seqs)), 0) \
        if seqs and len(set(seqs)) < max(seqs) - expected + 1 else 0
    order = [line.seq if line.body is not None else 0 for line in window]
    ordered = all(a < b for a, b in zip(order, order[1:]))
    if expected == 1 and not genuine and not known:
        res.set("foreign key", 1)
    elif bad or (missing and not ordered):
        res.set("edited", expected)
    elif missing:
        res.set("deleted", missing)
    else:
        res.set("reordered", expected)


class Trail:
    def __init__(self, root, name):
        self.keys = [h(root, b"wardfs trail\0" + name.encode())]

    def key(self, seq):
        while len(self.keys) < seq:
            self.keys.append(h(None, b"wardfs ratchet" + self.keys[-1]))
        return self.keys[seq - 1]


def verify_trail(path, name, root, known):
    res = Result()
    with open(path, "rb") as f:
        data = f.read()
        try:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
    lines, torn = split(data)
    trail, prev = Trail(root, name), bytes(32)
    for place, line in enumerate(lines):
        if line.body is None or line.seq != place + 1 or line.session != name or h(
                trail.key(place + 1), prev + line.body) != line.mac:
            suspects(res, lines[place:], place + 1, prev, lambda l: trail.key(l.seq), name,
                     known["records"] if known and known["ended"] else 0,
                     bool(known and known["started"]))
            return res
        prev = line.mac
        res.records += 1
        res.gaps += line.kind == "gap"
    if not known or not known["started"]:
        res.set("deleted" if data else "unstarted")
    elif not known["ended"]:
        res.set("incomplete")
    elif res.records < known["records"]:
        res.set("edited" if torn and len(data) >= known["bytes"] else "truncated", res.records + 1)
    elif torn:
        res.set("edited", res.records + 1)
    elif res.records == known["records"] and prev.hex() != known["last"]:
        res.set("edited", res.records)
    elif res.records > known["records"] or not known["complete"]:
        res.set("incomplete")
    elif res.gaps:
        res.set("gap")
    return res


def ledger_key(root, line):
    if line.kind not in ("start", "end", "torn"):
        return None
    return h(root, b"wardfs ledger " + line.kind.encode() + b"\0" + line.session.encode())


def take_entry(sessions, line):
    entry = json.loads(line.body + b"}")
    s = sessions.setdefault(line.session, {"started": False, "ended": False})
    if line.kind == "start":
        s["started"] = True
    elif line.kind == "end":
        s.update(ended=True, complete=entry["verdict"] == "complete", records=entry["records"],
                 bytes=entry["bytes"], last=entry["last"])


def verify_ledger(path, root):
    res, sessions = Result(), {}
    if not os.path.exists(path):
        return res, sessions
    with open(path, "rb") as f:
        lines, torn = split(f.read())
    prev, good_prev, first_bad = bytes(32), bytes(32), None
    for place, line in enumerate(lines):
        genuine = False
        if line.body is not None:
            key = ledger_key(root, line)
            genuine = bool(key) and h(key, prev + line.body) == line.mac
            prev = line.mac
        if genuine:
            take_entry(sessions, line)
            res.gaps += line.kind == "torn"
        if first_bad is None and genuine and line.seq == place + 1:
            res.records += 1
            good_prev = prev
        elif first_bad is None:
            first_bad = place
    if first_bad is not None:
        suspects(res, lines[first_bad:], first_bad + 1, good_prev,
                 lambda l: ledger_key(root, l), None, 0, False)
    elif torn:
        res.set("incomplete")
    elif res.gaps:
        res.set("gap")
    return res, sessions


def main():
    state = sys.argv[1]
    with open(os.path.join(state, "key"), "rb") as f:
        root = f.read()
    bad = False

    def report(name, res):
        nonlocal bad
        bad |= res.state not in ("intact", "unstarted")
        print(name, res.state.replace(" ", "-"), res.records, res.first_bad)

    def session(name):
        path = os.path.join(state, "sessions", name, "trail.jsonl")
        if os.path.exists(path):
            report(name, verify_trail(path, name, root, sessions.get(name)))
        else:
            missing = Result()
            missing.set("missing" if name in sessions else "unstarted")
            report(name, missing)

    ledger, sessions = verify_ledger(os.path.join(state, "ledger.jsonl"), root)
    if len(sys.argv) > 2:
        session(sys.argv[2])
        return int(bad)
    report("ledger", ledger)
    for name in sessions:
        session(name)
    there = os.path.join(state, "sessions")
    for name in sorted(os.listdir(there) if os.path.isdir(there) else []):
        if re.fullmatch(NAME, name) and name not in sessions:
            session(name)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
