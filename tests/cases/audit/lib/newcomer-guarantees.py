# SPDX-License-Identifier: Apache-2.0
# Part of ../newcomer.sh.
"""`audit guarantees --json` of sessions in the modes restricted, none and process: who lacks what."""
import json
import sys

g = json.load(sys.stdin)
assert g["sessions"] == 3 and g["without_sandbox"] == 0, g
lacks = {name: sorted(w["session"] for w in row["missing"]) for name, row in g["guarantees"].items()}
assert lacks["files"] == lacks["syscalls"] == lacks["integrity"] == ["half", "open"], lacks
assert lacks["processes"] == lacks["end"] == ["open"], lacks
assert lacks["network"] == lacks["privileges"] == [], lacks
for name in ("files", "processes", "network", "syscalls", "privileges", "end", "integrity"):
    row = g["guarantees"][name]
    assert row["held"] + len(row["missing"]) == g["sessions"], (name, row)
# Limits that no policy sets are nobody's guarantee. /tmp has one where it is the mode's own.
assert not {"limit-cpus", "limit-cpu-time", "limit-file"} & set(g["guarantees"]), g
assert lacks["limit-tmp"] == ["half", "open"] and g["guarantees"]["limit-tmp"]["held"] == 1, g
# Without a network nobody records what the kernel refuses.
assert g["guarantees"]["network"]["unrecorded"] == 3, g
