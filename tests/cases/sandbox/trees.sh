#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ephemeral trees, nested trees, and a tree of kept state, as root and as an ordinary user.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >trees.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
mkdir -p state p/inner other
echo other >other/file
cd p || exit 1
echo text >file
echo below >inner/hidden
cat >n.policy <<E
[policy]
version = 1
[tree /workspace]
source = tmpfs:4M
[tree /workspace/repo]
source = .
[tree /workspace/deep/er]
source = $WARD_TMP/other
at = none
[tree /var/agent/state]
source = $WARD_TMP/state
at = none
[files]
write = /workspace
read = /workspace/deep
deny = /workspace/repo/n.policy
write = /var/agent/state
E
run() {
	"$WARDFS" run --policy n.policy -- "$@"
}
# The project is at its place in the tree above, and at its own path; the start directory is the
# caller's.
expect 0 run sh -c 'pwd; cat /workspace/repo/file file; ls /workspace'
has "$OUT" "$PWD
text
text
deep
repo"
# Files written beneath are real, files written above are gone.
expect 0 run sh -c 'echo real >/workspace/repo/real; echo gone >/workspace/gone; cat /workspace/gone'
[ "$(cat real)" = real ] || fail "not written"
expect 1 run cat /workspace/gone
has "$ERR" "No such file"
# Rules speak of sandbox paths, across the border.
expect 1 run cat /workspace/repo/n.policy
has "$ERR" "Permission denied"
expect 0 run cat /workspace/deep/er/file
expect 2 run sh -c 'echo x >/workspace/deep/er/file'
expect 1 run touch /workspace/deep/new
# The place itself stays where it is; another tree is another file system.
expect 1 run mv /workspace/repo /workspace/elsewhere
has "$ERR" "busy"
expect 1 run rm -r /workspace/deep/er
expect 1 run ln /workspace/repo/file /workspace/file
expect 0 run sh -c 'mv /workspace/repo/real /workspace/ && test -e /workspace/real'
[ ! -e real ] || fail "not moved"
# State stays from session to session.
expect 0 run sh -c 'echo one >>/var/agent/state/log'
expect 0 run sh -c 'echo two >>/var/agent/state/log; cat /var/agent/state/log'
[ "$OUT" = "one
two" ] || fail "state: $OUT"
# An ephemeral tree has a size, and a number of files.
expect 0 run sh -c 'head -c 3000000 /dev/zero >/workspace/zero'
expect 1 run sh -c 'head -c 5000000 /dev/zero >/workspace/zero'
has "$ERR" "No space left"
fill='import os, sys
try:
    for i in range(4000):
        os.close(os.open(f"/workspace/f{i}", os.O_CREAT | os.O_WRONLY))
except OSError as e:
    print(e.strerror)
else:
    print("all")'
expect 0 run python3 -c "$fill"
[ "$OUT" = "No space left on device" ] || fail "inodes: $OUT"
sed 's/tmpfs:4M/tmpfs:64M/' n.policy >big.policy
expect 0 "$WARDFS" run --policy big.policy -- python3 -c "$fill"
[ "$OUT" = all ] || fail "control: $OUT"

# In a tree of the host the place has to be there; what it covers is not seen at that path.
cat >h.policy <<E
[policy]
version = 1
[tree /workspace]
source = .
[tree /workspace/inner]
source = $WARD_TMP/other
at = none
[files]
write = /workspace
E
expect 0 "$WARDFS" run --policy h.policy -- sh -c 'cat /workspace/inner/file; ls /workspace/inner'
hasnt "$OUT" hidden
sed 's/inner/missing/' h.policy >m.policy
expect 125 "$WARDFS" run --policy m.policy -- touch started
has "$ERR" "/workspace/missing"
[ ! -e started ] || fail "started without its tree"
expect 0 "$WARDFS" audit verify --all
expect 0 "$WARDFS" run --policy low -- sh -c 'echo x >/workspace/x; cat /workspace/x'
# A source beside the policy's own directory; ".." is what the directories say, not the text.
mkdir -p "$WARD_TMP/away/sub"
ln -sfn "$WARD_TMP/away/sub" "$WARD_TMP/link"
for source in ../other ../p/../other ../p/inner/../../other//; do
	printf '[policy]\nversion = 1\nextends = medium\n[tree /data]\nsource = %s\nat = same\n[files]\nread = /data\n' \
		"$source" >up.policy
	expect 0 "$WARDFS" run --policy up.policy -- cat /data/file "$WARD_TMP/other/file"
	[ "$OUT" = "other
other" ] || fail "$source: $OUT"
done
echo away >"$WARD_TMP/away/file"
sed -i "s,^source.*,source = ../link/..," up.policy
expect 0 "$WARDFS" run --policy up.policy -- cat "$WARD_TMP/away/file"
[ "$OUT" = away ] || fail "$OUT"
sed -i "s,^source.*,source = ../nowhere/..," up.policy
expect 2 "$WARDFS" run --policy up.policy -- true
has "$ERR" "No such file or directory"
rm up.policy
exit 0
S
cp trees.body trees.sh
chmod 755 "$WARD_TMP"
sh ./trees.sh || fail "as root"
as_user "$WARD_TMP/trees.sh" || fail "as an ordinary user"
exit 0
