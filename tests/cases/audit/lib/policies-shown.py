# SPDX-License-Identifier: Apache-2.0
# Part of ../policies.sh.
"""DIGESTS SHOWN: `audit policy --json` has these policies, and each text is the one of its digest."""
import hashlib
import json
import sys

want = open(sys.argv[1], encoding="ascii").read().split()
shown = json.load(open(sys.argv[2], encoding="utf-8"))
assert [p["sha256"] for p in shown] == want, shown
assert [p["by"] for p in shown] == [None, "uid 0", "uid 0"], shown
assert shown == sorted(shown, key=lambda p: (p["since"], p["seq"])), shown
for p in shown:
    assert hashlib.sha256(p["text"].encode()).hexdigest() == p["sha256"], p
