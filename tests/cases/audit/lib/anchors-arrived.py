# SPDX-License-Identifier: Apache-2.0
# Part of ../anchors.sh.
import sys
def notes(path):
    lines = open(path, encoding="utf-8").read().split("\n")
    return [tuple(lines[i:i + 8]) for i, l in enumerate(lines) if l.startswith("wardfs/trail/")]
own, there, taken = map(notes, sys.argv[1:])
assert there[0] == own[0] and there[0][1] == "0", "the first"
assert there[-1] == own[-1] and there[-1][5] == "state complete", "the last"
assert set(there) <= set(own) and set(taken) <= set(own) and taken[-1] == own[-1]
assert len(set(there)) == len(there), "twice"
