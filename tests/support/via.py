# SPDX-License-Identifier: Apache-2.0
"""via.py ENGINE ACTION... <TRAIL: each record of an access, and no other, names the engine that made
it (`via`), and there is one of each ACTION. ENGINE `none`: no record does.
"""
import json
import sys

engine = None if sys.argv[1] == "none" else sys.argv[1]
records = [json.loads(line) for line in sys.stdin]
inside = [r for r in records if r["ring"] > 0 and r.get("comm") and r["kind"] != "external"]
assert inside, "no access"
for r in inside:
    assert r.get("via") == engine, r
assert all("via" not in r for r in records if r not in inside), "not of an access"
assert records[0]["detail"].get("via") == engine, records[0]
missing = set(sys.argv[2:]) - {r.get("action", r["kind"]) for r in inside}
assert not missing, missing
