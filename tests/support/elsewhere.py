# SPDX-License-Identifier: Apache-2.0
"""Of the second verifier (verify.py, which is v here): checkpoints of any sessions that were kept elsewhere."""
import os
import re
import sys

import ledger_notes
from segments import read_trail, segments


def usage(text):
    wanted = {"-h", "--help"} & set(sys.argv)
    print(text.strip(), file=sys.stdout if wanted else sys.stderr)
    return 0 if wanted else 2


def one_verdict(kept, own):
    """Of a name: what checkpoints from elsewhere say, if they say anything, in place of the trail's own."""
    if kept and own.state != "intact":
        kept.records = min(kept.records, own.records)
    return kept or own


def judge(v, res, trail, notes):
    """Checkpoints of one session, of rising size, against its lines."""
    if not segments(os.path.dirname(trail)):
        return res.set("missing")
    lines, _ = v.split(read_trail(trail))
    tree, n = v.Tree(), 0
    for note in notes:
        if note.size > len(lines):
            return res.set("truncated", len(lines) + 1)
        while n < note.size:
            tree.add(v.leaf(lines[n].raw))
            n += 1
        if (tree.root() if n else v.sha(b"")) != note.root:
            return res.set("edited", res.records + 1)
        res.records = note.size
    return None


def elsewhere(v, path, state, root, sessions, keys, report):
    with open(path, "rb") as f:
        data = f.read().lstrip(b"\n")
    of, foreign, ledger = {}, 0, []
    key = ledger_notes.from_root(v, root)
    while data:
        if re.match(rb"wardfs\.[0-9a-f]{16}/ledger\n", data):
            note, rest = ledger_notes.take(v, data)
            if note:
                data = rest.lstrip(b"\n")
                if note.origin == key.name and ledger_notes.check(v, note, key) == "good":
                    ledger.append(note)
                else:
                    foreign += 1
                continue
        note, rest = v.take_note(data)
        if note is None:
            sys.exit(f"{path}: something else than a checkpoint")
        data = rest.lstrip(b"\n")
        if any(note.signed_by(k) for k in keys):
            of.setdefault(note.session, []).append(note)
        else:
            foreign += 1
    res = v.Result()
    ledger_notes.judge_kept(v, res, os.path.join(state, "ledger.jsonl"), ledger)
    if res.state != "intact":
        report("ledger", res)
    for name in sorted(of):
        s, res = sessions.get(name, {"started": False, "removed": False, "expired": False, "lost": False}), v.Result()
        if not s["lost"] and (s["removed"] or s["expired"]):
            continue
        trail = os.path.join(state, "sessions", name, "trail.jsonl")
        judge(v, res, trail, sorted(of[name], key=lambda n: n.size))
        if not s["started"]:
            res.set("missing")
        if res.state != "intact":
            report(name, res)
    if foreign:
        res = v.Result()
        res.set("foreign key")
        report("checkpoints", res)
