# SPDX-License-Identifier: Apache-2.0
# Part of ../records.sh.
import collections, json, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
got = collections.defaultdict(set)
for r in recs:
    if r["kind"] == "external":
        assert r["how"] == "observed" and r["ring"] == 1, r
        got[r["path"].rsplit("/", 1)[1]].add(r["action"])
assert {"write", "attr"} <= got["theirs"], got
assert {"create", "remove"} <= got["made"] and "moved-from" in got["other"], got
assert "moved-to" in got["moved"] and "create" in got["go"], got
assert not got.keys() & {"mine", "mine.tmp", "later", "ready"}, got
