# SPDX-License-Identifier: Apache-2.0
"""Part of verify.py: the policies of a session, as its records have them (docs/audit-format.md)."""
import hashlib
import json
import os
import re
import struct

SHORT = {"n": b"\n", "t": b"\t", "r": b"\r", "\\": b"\\"}


def raw(text):
    """The bytes of an escaped form."""
    out = b""
    for plain, short, code in re.findall(r"([^\\]+)|\\(?:([ntr\\])|x([0-9a-f]{2}))", text):
        out += plain.encode() or SHORT.get(short) or bytes.fromhex(code)
    return out


class Policy:
    """One policy of a trail."""

    def __init__(self, loaded):
        self.sources, self.meaning, self.loaded, self.seq = b"", b"", loaded, 0


def files_of(sources):
    """[(kind, text)] of the files that a policy was compiled from; None: it is no such text."""
    out, at = [], 12
    try:
        version, mark, n = struct.unpack_from("<I4sI", sources)
        for _ in range(n):
            kind, size = struct.unpack_from("<II", sources, at)
            at += 8 + size
            size, = struct.unpack_from("<I", sources, at)
            out.append((kind, sources[at + 4:at + 4 + size]))
            at += 4 + size
    except struct.error:
        return None
    return out if (version, mark, at) == (1, b"WPOL", len(sources)) else None


def policies(lines):
    """The policies of these lines of a trail; loaded: in force, None: no record says."""
    sets = []
    for line in lines:
        if line.kind not in ("policy", "reload"):
            continue
        record = json.loads(line.raw)
        if line.kind == "reload":
            if sets and sets[-1].loaded is None:
                sets[-1].loaded = record.get("result") == "loaded"
                sets[-1].seq = line.seq
        elif not isinstance(record.get("text"), str):
            continue
        elif record.get("name") == "meaning":
            if sets:
                sets[-1].meaning += raw(record["text"])
        else:
            if not sets or sets[-1].meaning:
                sets.append(Policy(None if sets else True))
            sets[-1].sources += raw(record["text"])
    return sets


def judge_policies(directory, lines, res):
    """The files policy and policy.N beside a trail whose lines are genuine."""
    if res.state not in ("intact", "gap", "incomplete"):
        return
    loaded = [s.sources for s in policies(lines) if s.meaning and s.loaded]
    for n, sources in enumerate(loaded):
        path = os.path.join(directory, f"policy.{n}" if n else "policy")
        if not os.path.lexists(path):
            if n == 0:
                return res.set("deleted")
            continue
        with open(path, "rb") as f:
            if os.path.islink(path) or f.read() != sources:
                return res.set("edited")


def judge_reviews(directory, entries, res):
    """The files review.N beside it, that entries "review" of the ledger name."""
    for entry in entries:
        if res.state not in ("intact", "gap", "incomplete"):
            return
        path = os.path.join(directory, f"review.{entry['file']}")
        if not os.path.lexists(path):
            return res.set("deleted")
        if os.path.islink(path) or not os.path.isfile(path):
            return res.set("edited")
        with open(path, "rb") as f:
            if hashlib.sha256(f.read()).hexdigest() != entry["digest"]:
                return res.set("edited")


def wrong_use(grant, record):
    """Whether it is no use that the grant allows."""
    if grant is None or record["mono"] < grant["since"]:
        return True
    return (record["mono"] >= grant["ends"] or record["mono"] > grant["over"] or
            record.get("used", 0) > grant["uses"] or
            not set(record.get("asked", [])) <= grant["asked"])


def grants_of(lines):
    """{id: grant} of the trail, with the first end that a record tells of."""
    never, grants = float("inf"), {}
    for line in lines:
        if line.kind not in ("grant", "expire", "revoke"):
            continue
        record = json.loads(line.raw)
        name = record.get("grant")
        if line.kind == "grant" and name is not None:
            grants.setdefault(name, {
                "since": record["mono"], "ends": record.get("ends", never), "over": never,
                "uses": record.get("uses", never), "asked": set(record.get("asked", [])),
                "first": never, "used": 0, "connected": 0})
        elif name in grants and record.get("result") in ("expired", "revoked"):
            grants[name]["over"] = min(grants[name]["over"], record["mono"])
    return grants


def judge_grants(lines, res):
    """Each use of a grant, and what was done under one, in a trail whose lines are genuine."""
    if res.state not in ("intact", "gap", "incomplete"):
        return
    grants = grants_of(lines)
    for line in lines:
        if line.kind == "use":
            record = json.loads(line.raw)
            if "grant" not in record:
                continue
            grant = grants.get(record["grant"])
            if wrong_use(grant, record):
                return res.set("edited", line.seq)
            grant["used"] += 1
            grant["first"] = min(grant["first"], record["mono"])
        elif b'"rule":"grant ' in line.raw and line.kind not in ("grant", "expire", "revoke"):
            record = json.loads(line.raw)
            grant = grants.get(record["rule"][len("grant "):])
            if grant and line.kind == "connect" and "duration" not in record and "errno" not in record:
                grant["connected"] += 1
            if grant is None or (line.kind != "dns" and grant["first"] > record["mono"]) or \
                    grant["connected"] > grant["used"]:
                return res.set("edited", line.seq)
