#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies trails from docs/audit-format.md alone.

verify.py STATE [SESSION]               with the root key; without a session: the ledger and all
verify.py STATE --checkpoints FILE      as well: with checkpoints of any sessions that were kept elsewhere
verify.py STATE --witness VKEY          as well: with what a witness cosigned of the ledger
verify.py --key KEY TRAIL CHECKPOINTS   with a public key alone
verify.py --key KEY --attestation FILE  a signed statement about a session
verify.py --key KEY --all STATE         every session in the directory
verify.py --key KEY --proof FILE        a proof taken from a trail

Prints one line each: NAME STATE RECORDS FIRST_BAD. Shares no code with wardfs; signatures are checked
by the command openssl, compressed segments read by the command zstd. Exit: 0 all intact, 1 not.
"""
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import ledger_notes
from elsewhere import elsewhere, one_verdict, usage
from gone import good_end
from pairs import proofs_of_pairs
from decided import judge_decided
from recorded import judge_grants, judge_policies, judge_reviews
from segments import read_trail, segments
from strict import strict_json

LINE_MAX, WINDOW, STEPS = 131072, 1048576, 16777216
NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}"
LINE = re.compile(rb'(?s)(\{"v":1,"seq":(0|[1-9][0-9]*),"session":"(' + NAME.encode() +
    rb')","kind":"([a-z.]+)".*),"mac":"([0-9a-f]{64})"\}\Z')


def h(key, data):
    return hashlib.blake2b(data, key=key or b"", digest_size=32).digest()


def sha(data):
    return hashlib.sha256(data).digest()


# --- the tree (RFC 6962) ---

def leaf(data):
    return sha(b"\0" + data)


class Tree:
    """Roots of whole subtrees: (leaves, hash), the largest first."""

    def __init__(self, other=None):
        self.n, self.parts = (other.n, list(other.parts)) if other else (0, [])

    def add(self, h_leaf):
        self.n += 1
        self.parts.append((1, h_leaf))
        while len(self.parts) > 1 and self.parts[-1][0] == self.parts[-2][0]:
            (n, right), (_, left) = self.parts.pop(), self.parts.pop()
            self.parts.append((2 * n, sha(b"\1" + left + right)))

    def root(self):
        if not self.parts:
            return sha(b"")
        h_right = self.parts[-1][1]
        for _, left in reversed(self.parts[:-1]):
            h_right = sha(b"\1" + left + h_right)
        return h_right


# --- keys and checkpoints ---

class Key:
    def __init__(self, text):
        self.name, key_id, data = text.split("+", 2)
        typed = base64.b64decode(data, validate=True)
        assert typed[0] == 1 and len(typed) == 33, text
        self.public = typed[1:]
        assert self.name == "wardfs/" + sha(self.public).hex()[:16], text
        self.id = sha(self.name.encode() + b"\n\1" + self.public)[:4]
        assert self.id.hex() == key_id, text
        self.until = ""


def remembered(check):
    """What openssl answered, also in earlier runs that were given the same $VERIFY_CACHE."""
    path, known = os.environ.get("VERIFY_CACHE"), {}
    if path and os.path.exists(path):
        with open(path, encoding="ascii") as f:
            known = dict(line.split() for line in f)

    def look(*what):
        name = sha(b"".join(sha(w) for w in what)).hex()
        if name not in known:
            known[name] = "good" if check(*what) else "bad"
            if path:
                with open(path, "a", encoding="ascii") as f:
                    print(name, known[name], file=f)
        return known[name] == "good"
    return look


@remembered
def ed25519(public, text, signature):
    der = bytes.fromhex("302a300506032b6570032100") + public
    with tempfile.TemporaryDirectory() as d:
        for name, data in ("key", der), ("text", text), ("sig", signature):
            with open(os.path.join(d, name), "wb") as f:
                f.write(data)
        return subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", d + "/key",
             "-rawin", "-in", d + "/text", "-sigfile", d + "/sig"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


NUMBER = rb"(0|[1-9][0-9]*)"
NOTE = [rb"wardfs/trail/(" + NAME.encode() + rb")", NUMBER, rb"([A-Za-z0-9+/]{43}=)",
        rb"time ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z)", rb"number " + NUMBER,
        rb"state (open|incomplete|complete)", rb"()", "\u2014 ([^ ]{1,23}) ([A-Za-z0-9+/]{91}=)".encode()]


def strict64(text):
    """The bytes, or None if it is not the one spelling of them."""
    try:
        data = base64.b64decode(text)
    except ValueError:
        return None
    return data if base64.b64encode(data) == text else None


class Note:
    def __init__(self, groups, raw, signed):
        self.session, self.size, self.root = groups[0].decode(), int(groups[1]), strict64(groups[2])
        self.number, self.state = int(groups[4]), groups[5].decode()
        self.time = groups[3].decode()
        self.key_name = groups[7].decode(errors="replace")
        sig = strict64(groups[8])
        self.good = self.root is not None and sig is not None and max(self.size, self.number) < 2**64
        self.key_id, self.signature = (sig[:4], sig[4:]) if sig else (b"", b"")
        self.raw, self.signed = raw, signed

    def late(self, key):
        return bool(key.until) and self.time > key.until

    def signed_by(self, key):
        return self.key_name == key.name and self.key_id == key.id and ed25519(
            key.public, self.signed, self.signature)


def take_note(data):
    """(note, rest), or (None, torn?) where there is no whole one."""
    groups, at, signed = [], 0, 0
    for i, form in enumerate(NOTE):
        end = data.find(b"\n", at, 512)
        if end < 0:
            return None, min(len(data), 512) - at <= 120
        match = re.fullmatch(form, data[at:end])
        if not match:
            return None, False
        groups += match.groups()
        at = end + 1
        if i == 5:
            signed = at
    note = Note(groups, data[:at], data[:signed])
    return (note, data[at:]) if note.good else (None, False)


class Notes:
    def __init__(self, text):
        self.v, self.empty, self.torn, data = [], not text, text.endswith(b"\0"), text.rstrip(b"\0")
        while data:
            note, rest = take_note(data)
            if note is None:
                self.torn = rest
                break
            self.v.append(note)
            data = rest
        self.rest = len(data) + len(text) - len(text.rstrip(b"\0"))

    def judge(self, session, keys):
        if self.empty:
            return "deleted"
        if self.rest and not (self.torn and self.v and self.v[-1].state == "open"):
            return "edited"
        session = session or self.v[0].session
        for note in self.v:
            if not any(note.signed_by(k) and not note.late(k) for k in keys):
                ours = any((note.key_name == k.name or note.key_id == k.id) and not note.late(k)
                           for k in keys)
                return "edited" if ours else "foreign key"
            if note.session != session:
                return "edited"
        numbers = [n.number for n in self.v]
        if numbers != list(range(1, len(numbers) + 1)):
            if all(a < b for a, b in zip(numbers, numbers[1:])):
                return "deleted"
            return "reordered" if sorted(numbers) == list(range(1, len(numbers) + 1)) else "edited"
        if any(a.size > b.size for a, b in zip(self.v, self.v[1:])):
            return "edited"
        return None


class Line:
    def __init__(self, raw):
        self.body, self.raw = None, raw
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


STATES = ["foreign key", "missing", "edited", "reordered", "deleted", "truncated", "incomplete",
          "unstarted", "removed", "expired", "gap", "intact"]


class Result:
    def __init__(self):
        self.state, self.records, self.first_bad, self.gaps = "intact", 0, 0, 0
        self.host_keys = []

    def set(self, state, first_bad=0):
        self.state, self.first_bad = state, first_bad

    def worse(self, state, first_bad=0):
        if STATES.index(state) < STATES.index(self.state):
            self.set(state, first_bad)


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


def read_notes(path):
    if not os.path.exists(path):
        return Notes(b"")
    with open(path, "rb") as f:
        return Notes(f.read())


def judge_checkpoints(res, lines, known, notes):
    """The macs are right: do the checkpoints say the same?"""
    tree, roots = Tree(), [sha(b"")]
    for line in lines:
        tree.add(leaf(line.raw))
        roots.append(tree.root())
    told = known.get("checkpoint")
    covered = 0
    bad = None
    for note in notes.v:
        if note.size > res.records:
            bad = ("truncated", res.records + 1)
            break
        if note.root != roots[note.size]:
            bad = ("edited", covered + 1)
            break
        covered = note.size
    if known["ended"] and not told:
        res.worse("edited")
    if told and told.size <= res.records and told.root != roots[told.size]:
        res.worse("edited", covered + 1)
    if not known["ended"] and not notes.v and (notes.torn or not notes.rest):
        return
    verdict = notes.judge(known["name"], known["keys"])
    if verdict:
        res.worse(verdict)
    elif bad:
        res.worse(*bad)
    elif told:
        last = notes.v[-1] if notes.v else None
        if not last or last.number < told.number:
            res.worse("truncated")
        elif last.number > told.number:
            res.worse("incomplete")
        elif last.signature != told.signature:
            res.worse("edited")


def verify_trail(path, name, root, known):
    res = Result()
    notes = read_notes(os.path.join(os.path.dirname(path), "checkpoints"))
    data = read_trail(path)
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
    if known and known["started"]:
        judge_checkpoints(res, lines, known, notes)
    judge_policies(os.path.dirname(path), lines, res)
    judge_reviews(os.path.dirname(path), known["reviews"] if known else [], res)
    judge_grants(lines, res)
    judge_decided(lines, res)
    return res


# --- with public keys alone ---

def in_form(line, session):
    return line.body is not None and line.session == session and b'{"v":1,"seq":' not in line.raw[1:]


def judge_public_claims(res, lines, held, session, notes, at):
    start, last = held.n + 1, notes.v[-1]
    window = lines[:WINDOW]
    claims = []
    for line in window:
        good = in_form(line, session) and line.seq > held.n and (
            last.state == "open" or line.seq <= last.size)
        claims.append((line.seq if good else 0, line))
    seqs = [c[0] for c in claims]
    first = next((start + i for i, s in enumerate(seqs) if s != start + i), start)
    ordered = all(a < b for a, b in zip(seqs, seqs[1:]))
    ranks = sorted(seqs)
    missing = next((start + i for i, s in enumerate(ranks) if s != start + i), 0)
    if 0 in seqs or len(set(seqs)) < len(seqs) or (missing and not ordered):
        return res.set("edited", first)
    if missing:
        return res.set("deleted", missing)
    if not ordered and at < len(notes.v):
        tree = Tree(held)
        for _, line in sorted(claims, key=lambda c: c[0]):
            if tree.n < notes.v[at].size:
                tree.add(leaf(line.raw))
        if tree.n == notes.v[at].size and tree.root() == notes.v[at].root:
            return res.set("reordered", first)
    return res.set("edited", first)


def verify_public(path, notes_path, keys):
    res, notes, data = Result(), read_notes(notes_path), read_trail(path)
    verdict = notes.judge(None, keys)
    if verdict:
        res.set(verdict)
        return "-", res
    session, last = notes.v[0].session, notes.v[-1]
    lines, torn = split(data)
    tree, held, at, bad, n, gaps = Tree(), Tree(), 0, False, 0, 0
    while True:
        while not bad and at < len(notes.v) and notes.v[at].size == tree.n:
            bad = notes.v[at].root != tree.root()
            if not bad:
                at, held, res.gaps = at + 1, Tree(tree), gaps
        if bad or n == len(lines):
            break
        if not in_form(lines[n], session) or lines[n].seq != n + 1:
            bad = True
            break
        tree.add(leaf(lines[n].raw))
        gaps += lines[n].kind == "gap"
        n += 1
    res.records = held.n
    if bad:
        judge_public_claims(res, lines[held.n:], held, session, notes, at)
        return session, res
    tail = data[len(data) - torn:]
    whole = [t for t in (Line(tail), Line(tail[:-1])) if in_form(t, session) and t.seq == n + 1]
    if at < len(notes.v):
        res.set("edited" if torn and whole and n + 1 == last.size else "truncated", n + 1)
    elif torn and last.state != "open":
        res.set("edited", n + 1)
    elif n > last.size or last.state != "complete":
        res.set("incomplete")
    elif res.gaps:
        res.set("gap")
    return session, res


# --- proofs ---

def path_root(h_leaf, index, size, path):
    """RFC 6962, 2.1.1: the root that the path leads to, from the definition of PATH(m, D[n])."""
    if size == 1:
        return h_leaf if not path else None
    if not path:
        return None
    k = 1
    while 2 * k < size:
        k *= 2
    if index < k:
        left = path_root(h_leaf, index, k, path[:-1])
        return left and sha(b"\1" + left + path[-1])
    right = path_root(h_leaf, index - k, size - k, path[:-1])
    return right and sha(b"\1" + path[-1] + right)


def two_roots(m, n, first, path, whole):
    """RFC 6962, 2.1.2: (root of m leaves, root of n leaves) from SUBPROOF(m, D[n], whole)."""
    if m == n:
        if whole:
            return (first, first) if not path else None
        return (path[0], path[0]) if len(path) == 1 else None
    if not path:
        return None
    k = 1
    while 2 * k < n:
        k *= 2
    if m <= k:
        roots = two_roots(m, k, first, path[:-1], whole)
        return roots and (roots[0], sha(b"\1" + roots[1] + path[-1]))
    roots = two_roots(m - k, n - k, first, path[:-1], False)
    return roots and tuple(sha(b"\1" + path[-1] + r) for r in roots)


def check_proof(data, key):
    """(session, state, size)"""
    if re.match(rb'\{ *"(record|proof)"', data):
        data = proofs_of_pairs(data)
        if data is None:
            return "proof", "edited", 0
    session, last, n, size = "proof", -1, 0, 0
    while n == 0 or data:
        name, state, size, index, data = check_one(data, key)
        if state != "intact":
            return session if n else name, state, size
        if n and (index is None or index <= last or name != session) or index is None and data:
            return session, "edited", 0
        session, last, n = name, -1 if index is None else index, n + 1
    return session, "intact", size


def check_one(data, key):
    """(session, state, size, index, what follows); index None: consistency"""
    none = "proof", "edited", 0, None, b""
    head, _, notes = data.partition(b"\n\n")
    lines = head.split(b"\n") if notes else [b""]
    kind = lines.pop(0)
    inclusion = kind == b"c2sp.org/tlog-proof@v1"
    if not inclusion and kind != b"wardfs/consistency@v1":
        return none
    taken = []
    while notes and len(taken) < (1 if inclusion else 2):
        note, notes = take_note(notes)
        if note is None:
            return none
        taken.append(note)
    if len(taken) != (1 if inclusion else 2):
        return none
    record = index = None
    if inclusion:
        extra = re.fullmatch(rb"extra ([A-Za-z0-9+/=]+)", lines.pop(0)) if lines else None
        match = re.fullmatch(rb"index " + NUMBER, lines.pop(0)) if lines else None
        record = strict64(extra[1]) if extra and len(extra[1]) % 4 == 0 else None
        if not match or record is None:
            return none
        index = int(match[1])
    if not all(re.fullmatch(rb"[A-Za-z0-9+/]{43}=", line) and strict64(line) for line in lines):
        return none
    path = [strict64(line) for line in lines]
    name, first, last = taken[0].session, taken[0], taken[-1]
    for note in taken:
        if not note.signed_by(key):
            ours = note.key_name == key.name or note.key_id == key.id
            return name, "edited" if ours else "foreign key", last.size, index, b""
    if inclusion:
        line = Line(record)
        good = line.body is not None and line.session == name and line.seq == index + 1 and \
            index < last.size and path_root(leaf(record), index, last.size, path) == last.root
    elif first.size == 0 or first.size > last.size:
        good = first.size == 0 and not path
    else:
        good = two_roots(first.size, last.size, first.root, path, True) == (first.root, last.root)
    return name, "intact" if good and last.session == name else "edited", last.size, index, notes


# --- attestations ---

ENVELOPE = re.compile(rb'\{"payloadType":"application/vnd\.in-toto\+json","payload":"([^"]*)","signatures":'
                      rb'\[\{"keyid":"([^"]{0,23})","sig":"([A-Za-z0-9+/=]*)"\}\]\}\n\Z')


def check_attestation(data, key):
    """(session, state, records, first_bad)"""
    none = "attestation", "edited", 0, 0
    match = ENVELOPE.match(data)
    payload, sig = (strict64(match[1]), strict64(match[3])) if match else (None, None)
    if payload is None or sig is None or len(sig) != 64 or len(data) > 1048576:
        return none
    try:
        s = strict_json(payload)
        p = s["predicate"]
        name, notes = p["session"], [p["checkpoints"][w] for w in ("first", "last")]
        if s["_type"] != "https://in-toto.io/Statement/v1" or \
                s["predicateType"] != "urn:wardfs:attestation:session:v1" or not re.fullmatch(NAME, name):
            return none
        notes = [] if notes == [None, None] else [take_note(n.encode()) for n in notes]
    except (ValueError, KeyError, TypeError, AttributeError):
        return none
    if any(n is None or rest or n.session != name for n, rest in notes):
        return none
    notes = [n for n, _ in notes]
    kind = b"application/vnd.in-toto+json"
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    ours = match[2].decode(errors="replace") == key.name
    if not ours or not ed25519(key.public, pae, sig):
        return name, "edited" if ours else "foreign key", 0, 0
    for note in notes:
        if not note.signed_by(key):
            return name, "edited" if note.key_name == key.name else "foreign key", 0, 0
    v = p["verify"]
    if v["state"] not in STATES or v["state"] in ("unstarted", "removed", "expired") or v["records"] < 1 or \
            not isinstance(v.get("ledger"), str):
        return name, "edited", 0, 0
    if v["state"] == "intact" and not (
            notes and notes[0].size == 0 and notes[1].size == v["records"] and
            notes[1].state == "complete"):
        return name, "edited", 0, 0
    if v["state"] == "intact" and v["ledger"] != "intact":
        return name, "incomplete", v["records"], 0
    return name, v["state"], v["records"], v["first_bad"] or 0


def ledger_key(root, line):
    if line.kind not in ("start", "end", "torn", "rotate", "read", "removed", "expired",
                         "enroll", "revoke", "question", "hold", "release",
                         "review"):
        return None
    return h(root, b"wardfs ledger " + line.kind.encode() + b"\0" + line.session.encode())


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text).encode()


def take_key(s, entry, revoked):
    key = Key(entry["key"])
    for k in s["keys"]:
        if k.public == key.public:
            return k
    key.until = "0" if key.public in revoked else ""
    s["keys"] = s["keys"][:1] + [key]
    return key


def take_host_key(sessions, entry, kind, revoked):
    public = Key(entry["key"]).public
    if kind == "enroll":
        revoked.discard(public)
        return
    revoked.add(public)
    for key in [k for s in sessions.values() for k in s["keys"] if k.public == public]:
        key.until = key.until or entry["time"]


def take_entry(sessions, line, revoked, rotations):
    entry = json.loads(line.body + b"}")
    if line.kind == "rotate":
        rotations.append(entry)
    if line.kind in ("enroll", "revoke"):
        take_host_key(sessions, entry, line.kind, revoked)
    if line.kind in ("rotate", "read", "enroll", "revoke", "question"):
        return
    s = sessions.setdefault(line.session, {"started": False, "ended": False, "keys": [],
                                           "name": line.session, "last": "0" * 64, "removed": False,
                                           "expired": False, "keep": 0, "lost": False, "held": False, "reviews": []})
    if line.kind in ("hold", "release"):
        s["held"] = line.kind == "hold"
    s["reviews"] += [entry] if line.kind == "review" and "file" in entry else []
    if line.kind in ("removed", "expired"):
        s[line.kind] = good_end(sys.modules[__name__], s, line, entry, revoked, rotations)
    if line.kind == "start":
        if s["ended"]:  # another session's, of the same name
            s.update(lost=s["lost"] or not (s["removed"] or s["expired"]), ended=False, keys=[],
                     last="0" * 64, removed=False, expired=False, held=False, reviews=[])
            s.pop("checkpoint", None)
        s["started"], s["keep"] = True, entry.get("keep", 0)
        take_key(s, entry, revoked)
    elif line.kind == "end":
        s.update(ended=True, complete=entry["verdict"] == "complete", records=entry["records"],
                 bytes=entry["bytes"], last=entry["last"], end=entry["time"])
        key = take_key(s, entry, revoked)
        note, rest = take_note(unescape(entry["checkpoint"]))
        good = note and not rest and note.signed_by(key) and note.session == line.session and \
            note.size == entry["records"]
        s["checkpoint"] = note if good else None


def verify_ledger(path, root):
    res, sessions, revoked, rotations, claimed = Result(), {}, set(), [], 0
    lines, torn = [], 0
    if os.path.exists(path):
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
            take_entry(sessions, line, revoked, rotations)
            claimed = max(claimed, json.loads(line.body + b"}").get("covered", 0))
            if line.kind == "rotate":
                entry = json.loads(line.body + b"}")
                res.host_keys += [Key(entry["from"]), Key(entry["to"])]
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
    if first_bad is None:
        ledger_notes.judge(sys.modules[__name__], res, lines, claimed,
                           os.path.join(os.path.dirname(path), "ledger.checkpoints"), root)
    return res, sessions


def public_all(there, keys):
    bad = False
    for name in sorted(os.listdir(there)):
        if not re.fullmatch(NAME, name):
            continue
        trail, notes = (os.path.join(there, name, f) for f in ("trail.jsonl", "checkpoints"))
        there_is = segments(os.path.dirname(trail))
        size = [len(read_trail(trail)) if there_is else 0,
                os.path.getsize(notes) if os.path.exists(notes) else 0]
        res = Result()
        if size == [0, 0]:
            res.set("unstarted")
        elif not there_is:
            res.set("missing")
        else:
            _, res = verify_public(trail, notes, keys)
            judge_policies(os.path.dirname(trail), split(read_trail(trail))[0], res)
            judge_grants(split(read_trail(trail))[0], res)
            judge_decided(split(read_trail(trail))[0], res)
        bad |= res.state not in ("intact", "unstarted")
        print(name, res.state.replace(" ", "-"), res.records, res.first_bad)
    return int(bad)


def main():
    if {"-h", "--help"} & set(sys.argv) or len(sys.argv) < (5 if sys.argv[1:2] == ["--key"] else 2):
        return usage(__doc__)
    if sys.argv[1] == "--key":
        if sys.argv[3] == "--proof" and sys.argv[2].startswith("wardfs."):
            with open(sys.argv[4], "rb") as f:
                state, size = ledger_notes.check_proof(sys.modules[__name__], f.read(), sys.argv[2])
            print("ledger", state.replace(" ", "-"), size, 0)
            return int(state != "intact")
        if sys.argv[3] == "--proof":
            with open(sys.argv[4], "rb") as f:
                name, state, size = check_proof(f.read(), Key(sys.argv[2]))
            print(name, state.replace(" ", "-"), size, 0)
            return int(state != "intact")
        if sys.argv[3] == "--all":
            return public_all(os.path.join(sys.argv[4], "sessions"), [Key(sys.argv[2])])
        if sys.argv[3] == "--attestation":
            with open(sys.argv[4], "rb") as f:
                name, state, size, first_bad = check_attestation(f.read(), Key(sys.argv[2]))
            print(name, state.replace(" ", "-"), size, first_bad)
            return int(state != "intact")
        session, res = verify_public(sys.argv[3], sys.argv[4], [Key(sys.argv[2])])
        judge_grants(split(read_trail(sys.argv[3]))[0], res)
        judge_decided(split(read_trail(sys.argv[3]))[0], res)
        print(session, res.state.replace(" ", "-"), res.records, res.first_bad)
        return int(res.state != "intact")
    state = sys.argv[1]
    with open(os.path.join(state, "key"), "rb") as f:
        root = f.read()
    bad = False
    kept = {}

    def report(name, res):
        nonlocal bad
        res = one_verdict(kept.pop(name, None), res)
        bad |= res.state not in ("intact", "unstarted", "removed", "expired")
        print(name, res.state.replace(" ", "-"), res.records, res.first_bad)

    def session(name):
        path = os.path.join(state, "sessions", name, "trail.jsonl")
        lost = sessions.get(name, {}).get("lost")
        if not lost and segments(os.path.dirname(path)):
            report(name, verify_trail(path, name, root, sessions.get(name)))
        else:
            missing = Result()
            missing.set("missing" if lost else "unstarted" if name not in sessions else
                        "removed" if sessions[name]["removed"] else
                        "expired" if sessions[name]["expired"] else "missing")
            report(name, missing)

    ledger, sessions = verify_ledger(os.path.join(state, "ledger.jsonl"), root)
    if len(sys.argv) == 3:
        session(sys.argv[2])
        return int(bad)
    if len(sys.argv) > 3 and sys.argv[2] == "--checkpoints":
        keys = ledger.host_keys + [k for s in sessions.values() for k in s["keys"]]
        elsewhere(sys.modules[__name__], sys.argv[3], state, root, sessions, keys, kept.setdefault)
    report("ledger", ledger)
    for name in sessions:
        session(name)
    there = os.path.join(state, "sessions")
    for name in sorted(os.listdir(there) if os.path.isdir(there) else []):
        if re.fullmatch(NAME, name) and name not in sessions:
            session(name)
    if sys.argv[2:3] == ["--witness"]:
        res = Result()
        ledger_notes.cosigned(sys.modules[__name__], res, state, root, sys.argv[3])
        report("witness", res)
    for name in list(kept):
        report(name, kept.pop(name))
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
