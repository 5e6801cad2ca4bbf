# SPDX-License-Identifier: Apache-2.0
# Part of ../terminal.sh.
"""Edits what is beside the trails of the state directory named: its ledger, checkpoints, names of sessions."""
import json, os, shutil, sys

HOSTILE = "x\x1b]0;T\x07\x08\r\nFORGED\nFORGED\x85\u202e\x9b31m\x7fz"
state = sys.argv[1]
sessions = os.path.join(state, "sessions")


def hostile(v):
    return {k: x + HOSTILE if isinstance(x, str) else x for k, x in v.items()}


with open(os.path.join(state, "ledger.jsonl"), "r+", encoding="utf-8") as f:
    entries = [json.loads(line) for line in f.read().splitlines()]
    f.writelines(json.dumps(hostile(e)) + "\n" for e in entries)
with open(os.path.join(sessions, "other", "checkpoints"), "a", encoding="utf-8") as f:
    f.write(HOSTILE + "\n\n" + HOSTILE + "\n")
for name in (HOSTILE, "\x1b[31m", "\udcff\udc9b"):
    shutil.copytree(os.path.join(sessions, "good"), os.path.join(sessions, name))
