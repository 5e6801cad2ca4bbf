#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a record of a changed attribute says: which file, and what becomes of it.
. "$WARD_SRC/tests/cases/lib.sh"
project p
cd p || exit 1
expect 0 "$WARDFS" run --session attrs -- sh -c 'echo x >f; chmod 640 f; truncate -s 100 f; touch f
	/usr/bin/python3 -c "import os
os.setxattr(\"f\", \"user.a\", b\"1\")
os.chown(\"f\", os.getuid(), os.getgid())"'
ino=$(stat -c %i f)
"$WARDFS" audit export attrs | /usr/bin/python3 -c '
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
assert found["xattr"] == [{"action": "setxattr", "name": "user.a"}], found["xattr"]' \
	"$ino" "$(stat -c %u f)" "$(stat -c %g f)" || fail "what the records say"
expect 0 "$WARDFS" audit verify attrs
exit 0
