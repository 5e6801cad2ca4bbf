# SPDX-License-Identifier: Apache-2.0
"""Of the second verifier (verify.py, which is v here): the ledger's checkpoints (C2SP tlog-checkpoint)."""
import os
import re
import subprocess

NAME = rb"[^\x00-\x20\x7f+]{1,127}"
DASH = "\u2014 ".encode()
SIGNATURE = re.compile(DASH + rb"(" + NAME + rb") ((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|))")
NOTE_MAX = 131072


class LedgerNote:
    def __init__(self, origin, size, root, body, signatures, raw):
        self.origin, self.size, self.root = origin, size, root
        self.body, self.signatures, self.raw = body, signatures, raw


def take(v, data):
    """(note, rest), or (None, torn?) where there is no whole one."""
    text, at, lines = data[:NOTE_MAX], 0, []
    forms = [NAME, rb"(?:0|[1-9][0-9]*)", rb"[A-Za-z0-9+/]{43}=", rb""]
    for form in forms:
        end = text.find(b"\n", at)
        if end < 0:
            return None, True
        line = text[at:end]
        if not re.fullmatch(form, line) or len(lines) == 1 and int(line) >= 2**64 or \
                len(lines) == 2 and v.strict64(line) is None:
            return None, False
        lines.append(line)
        at = end + 1
    body, signatures = text[:at - 1], []
    while text.startswith(DASH, at):
        end = text.find(b"\n", at)
        if end < 0:
            return None, True
        match = SIGNATURE.fullmatch(text[at:end])
        if not match or len(match[2]) < 8:
            return None, False
        signatures.append((match[1], match[2]))
        at = end + 1
    if not signatures:
        return None, DASH.startswith(text[at:])
    return LedgerNote(lines[0].decode(errors="replace"), int(lines[1]), v.strict64(lines[2]), body, signatures,
                      data[:at]), data[at:]


class LedgerKey:
    """The key of signed checkpoints: NAME, public; kind 4 cosigns."""

    def __init__(self, v, name, public, kind=1):
        self.name, self.public, self.kind = name, public, kind
        self.id = v.sha(name.encode() + b"\n" + bytes([kind]) + public)[:4]


def from_root(v, root):
    seed = v.h(root, b"wardfs ledger checkpoint\0host")
    der = bytes.fromhex("302e020100300506032b657004220420") + seed
    public = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input=der,
                            stdout=subprocess.PIPE, check=True).stdout[-32:]
    return LedgerKey(v, f"wardfs.{v.sha(public).hex()[:16]}/ledger", public)


def from_text(v, text):
    name, key_id, data = text.split("+", 2)
    typed = v.strict64(data.encode())
    assert typed and len(typed) == 33 and typed[0] in (1, 4), text
    key = LedgerKey(v, name, typed[1:], typed[0])
    assert key.id.hex() == key_id, text
    return key


def check(v, note, key):
    """good, bad, or unknown where the key did not sign"""
    found = "unknown"
    for name, text in note.signatures:
        sig = v.base64.b64decode(text)
        if name.decode(errors="replace") != key.name or sig[:4] != key.id:
            continue
        sig = v.strict64(text)
        body, rest = note.body, sig[4:] if sig else b""
        if sig and key.kind == 4:
            time, rest = int.from_bytes(sig[4:12], "big"), sig[12:]
            body = f"cosignature/v1\ntime {time}\n".encode() + body
            if not 0 < time < 2**63:
                return "bad"
        if len(rest) != 64 or not v.ed25519(key.public, body, rest):
            return "bad"
        found = "good"
    return found


def torn(v, rest, key):
    """The beginning of a checkpoint of ours?"""
    line = f"{key.name}\n".encode()
    return len(rest) < 512 and rest[:len(line)] == line[:len(rest)] and take(v, rest) == (None, True)


def judge_file(v, notes, rest, key):
    # What was appended last, and was not on disk when the host stopped, can be zeros.
    rest = rest.rstrip(b"\0")
    if rest and not torn(v, rest, key):
        return "edited"
    before = 0
    for note in notes:
        if note.origin != key.name:
            return "foreign key"
        if note.size <= before:
            return "edited"
        if note in (notes[0], notes[-1]) and check(v, note, key) != "good":
            return "edited"
        before = note.size
    return None


def read(v, path):
    """(notes, what follows them)"""
    data, notes = b"", []
    if os.path.exists(path):
        with open(path, "rb") as f:
            data = f.read()
    while data:
        note, rest = take(v, data)
        if note is None:
            break
        notes.append(note)
        data = rest
    return notes, data


def check_proof(v, data, vkey):
    """(state, size) of a proof that an entry is in the ledger."""
    key = from_text(v, vkey)
    head, _, text = data.partition(b"\n\n")
    lines = head.split(b"\n")
    note, rest = take(v, text)
    extra = re.fullmatch(rb"extra ([A-Za-z0-9+/=]+)", lines[1]) if len(lines) > 2 else None
    index = re.fullmatch(rb"index (0|[1-9][0-9]*)", lines[2]) if len(lines) > 2 else None
    path = [v.strict64(line) for line in lines[3:]]
    entry = v.strict64(extra[1]) if extra else None
    if lines[0] != b"c2sp.org/tlog-proof@v1" or not index or entry is None or note is None or rest or \
            any(p is None or len(p) != 32 for p in path):
        return "edited", 0
    signed, index = check(v, note, key), int(index[1])
    if note.origin != key.name or signed == "unknown":
        return "foreign key", note.size
    line = v.Line(entry)
    good = signed == "good" and line.body is not None and line.seq == index + 1 and index < note.size and \
        v.path_root(v.leaf(entry), index, note.size, path) == note.root
    return "intact" if good else "edited", note.size


def cosigned(v, res, state, root, vkey):
    """What the witness of this key cosigned, against the lines of the ledger."""
    notes, _ = read(v, os.path.join(state, "ledger.cosigned"))
    keys = from_root(v, root), from_text(v, vkey)
    told = [[check(v, note, key) for key in keys] for note in notes]
    good = [note for note, t in zip(notes, told) if t == ["good", "good"] and note.origin == keys[0].name]
    judge_kept(v, res, os.path.join(state, "ledger.jsonl"), good)
    if res.state == "intact" and any("bad" in t for t in told):
        res.set("edited")
    elif res.state == "intact" and not good:
        res.set("missing")


def judge_kept(v, res, path, notes):
    """Checkpoints of the ledger, in any order, against its lines."""
    lines, tree = [], v.Tree()
    if os.path.exists(path):
        with open(path, "rb") as f:
            lines, _ = v.split(f.read())
    for note in sorted(notes, key=lambda n: n.size):
        if note.size > len(lines):
            return res.set("truncated", len(lines) + 1)
        while tree.n < note.size:
            tree.add(v.leaf(lines[tree.n].raw))
        if note.size and tree.root() != note.root:
            return res.set("edited", res.records + 1)
        res.records = note.size
    return None


def judge(v, res, lines, claimed, path, root):
    """Every line is genuine: do the checkpoints say the same?"""
    notes, rest = read(v, path)
    verdict = judge_file(v, notes, rest, from_root(v, root))
    if verdict:
        return res.worse(verdict)
    tree, matched = v.Tree(), 0
    for note in notes:
        if note.size > len(lines):
            return res.worse("truncated", len(lines) + 1)
        while tree.n < note.size:
            tree.add(v.leaf(lines[tree.n].raw))
        if tree.root() != note.root:
            return res.worse("edited", matched + 1)
        matched = note.size
    if claimed > (notes[-1].size if notes else 0):
        res.worse("deleted")
    return None
