# SPDX-License-Identifier: Apache-2.0
# Part of ../members-of-kinds.sh.
"""Records have the members of their kind: KINDS MEMBERS RECORDS..."""
import json, re, sys

WHO = set("pid uid comm process parent via cut".split())
rows = re.findall(r"^\| `([a-z.]+)` \| ([^|]*) \| `([^`]*)` \|", open(sys.argv[1]).read(), re.M)
kinds = {}
for kind, by, has in rows:  # a kind with many members has two
    kinds[kind] = (by, kinds.get(kind, (by, set()))[1] | set(has.split()))
FRAME = set("v seq session kind time mono ring pos lag mac".split())
seen = {}
for path in sys.argv[3:]:
    for line in open(path):
        r = json.loads(line)
        by, has = kinds[r["kind"]]
        other = set(r) - FRAME - WHO - has
        assert not other, (r["kind"], other, r)
        seen.setdefault(r["kind"], set()).update(r)
        # Ring 0 is the supervisor's, those behind are of the filesystems and the broker.
        who = {-1: "writer", 0: "supervisor"}.get(r["ring"], "filesystem|broker")
        assert re.search(who, by), (r["kind"], by, r["ring"])
# Controls: there was something to look at, and a member of another kind would have been noticed.
want = set("session.start policy probe exec open create io close rename link remove attr xattr lock quota deny session.end".split())
assert want <= set(seen), want - set(seen)
assert "host" in seen["deny"] or len(sys.argv) == 4
assert "lock" in seen["lock"] and "quota" not in kinds["lock"][1]
