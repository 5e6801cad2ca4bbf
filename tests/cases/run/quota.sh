#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Quotas as the owner sees them: wardfs quota, the exit line, denials, and limits that change
# during a session. The control of each refusal is the same write under the raised limit.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
mkdir -p src/in mnt
over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }
policy() {
	printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n[quota /workspace]\ngrowth = %s\nfiles = 50\n' "$1" >p
	[ $# -lt 2 ] || printf '%s\n' "$2" >>p
}
used() {
	"$WARDFS" quota --json m1 | python3 -c 'import json,sys
(s,) = json.load(sys.stdin)
(q,) = s["quotas"]
print(q["growth"]["used"], q["growth"]["limit"], q["files"]["used"], q["growth"]["refused"] > 0)'
}
trap '"$WARDFS" umount "$WARD_TMP/mnt" 2>/dev/null || :' EXIT
expect 1 "$WARDFS" quota m1
has "$ERR" "no session 'm1' is running"
policy 100K
expect 0 "$WARDFS" mount --session m1 --policy ./p src mnt
[ "$(used)" = "0 102400 0 False" ] || fail "at the start: $(used)"
head -c 60000 /dev/zero >mnt/a
[ "$(used)" = "60000 102400 1 False" ] || fail "written: $(used)"
if head -c 60000 /dev/zero >mnt/b 2>err; then fail "too much was written"; fi
has "$(cat err)" "Disk quota exceeded"
[ "$(stat -c %s src/b)" = 42400 ] || fail "what fits: $(stat -c %s src/b)"
[ "$(used)" = "102400 102400 2 True" ] || fail "full: $(used)"
expect 0 "$WARDFS" quota
has "$OUT" "/workspace"
has "$OUT" "100K"
# More is let in, and what was used counts on; then less than is there.
policy 200K
expect 0 "$WARDFS" policy reload m1 ./p
[ "$(used)" = "102400 204800 2 True" ] || fail "raised: $(used)"
head -c 60000 /dev/zero >mnt/c || fail "there is room"
[ "$(used)" = "162400 204800 3 True" ] || fail "after it: $(used)"
policy 1K
expect 0 "$WARDFS" policy reload m1 ./p
if echo x >>mnt/a 2>/dev/null; then fail "more than the limit is there already"; fi
[ "$(df --output=size,avail -B1 mnt | tail -n 1 | awk '{ print $1, $2 }')" = "1024 0" ] || fail "df: $(df -B1 mnt)"
rm mnt/a mnt/b mnt/c
# A file that was closed a moment ago may still count as open; then its bytes count until that is
# over.
uses() { [ "$(used)" = "$1" ]; }
wait_until 60 uses "0 1024 0 True" || fail "removed: $(used)"
# A quota that was not there is not added to what is open: said by name, the old policy stays.
policy 200K 'churn = 5/m'
expect 2 "$WARDFS" policy reload m1 ./p
has "$ERR" "[quota /workspace] churn = 5/m"
[ "$(used)" = "0 1024 0 True" ] || fail "kept: $(used)"
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session did not end"

# In a run: the exit line names the quota and its line, denials say what would help.
policy 10K
cd src || exit
expect 1 "$WARDFS" run --policy ../p -- sh -c 'head -c 20000 /dev/zero >f'
has "$ERR" "1 refused: write /workspace/f"
has "$ERR" "/p:6 [quota /workspace] growth = 10K"
expect 0 "$WARDFS" audit denials
has "$OUT" "EDQUOT"
has "$OUT" "raise that line"
rm -f f
sed -i 's/10K/30K/' ../p
expect 0 "$WARDFS" run --policy ../p -- sh -c 'head -c 20000 /dev/zero >f'
