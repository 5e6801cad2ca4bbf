# SPDX-License-Identifier: Apache-2.0
# Part of ../attrs.sh.
import json, sys
ino, uid, gid = map(int, sys.argv[1:])
found = {"attr": [], "xattr": []}
for r in map(json.loads, sys.stdin):
    if r["kind"] in found:
        assert r["path"] == "/workspace/f" and r["ino"] == ino, r
        found[r["kind"]].append({k: r[k] for k in ("action", "mode", "owner", "group", "size", "name") if k in r})
want = [{"action": "setattr", "mode": "0640"}, {"action": "truncate", "size": 100}, {"action": "setattr"},
        {"action": "setattr", "owner": uid, "group": gid}]
assert found["attr"] == want, found["attr"]
assert found["xattr"] == [{"action": "setxattr", "name": "user.a"}], found["xattr"]
