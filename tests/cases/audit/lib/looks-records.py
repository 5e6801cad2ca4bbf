# SPDX-License-Identifier: Apache-2.0
# Part of ../looks.sh: the refusals of three processes, three of each name.
import collections, json, sys
with open(sys.argv[1], encoding="utf-8") as f:
    records = [json.loads(line) for line in f]
seen = collections.Counter((r["path"], r["pid"]) for r in records)
pids = {pid for _, pid in seen}
assert len(pids) == 3, seen
# The control: what is denied shows, and each attempt has its record.
for name in ["den/s", "hid", "there.hid", "absent.hid", "open/there.hid", "open/absent.hid"]:
    for pid in pids:
        assert seen.pop(("/workspace/" + name, pid), 0) == 3, (name, seen)
# What is absent without a rule that hides it is nobody's refusal.
assert not seen, seen
# A record does not tell either whether the name is there.
one = {json.dumps({k: r[k] for k in r if k in ("action", "asked", "given", "verdict", "rule", "errno", "ino", "text")})
       for r in records if r["path"].endswith(".hid")}
assert len(one) == 1, one
