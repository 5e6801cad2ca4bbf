#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a session staged in one project is not applied to another one that has its path by now:
# because the project was moved away, or because something is mounted there. The controls are the
# same directory, also after it was moved there and back, and an undo.
# timeout: 120
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: mounts"
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
P=$WARD_TMP/p
fresh() {
	cd "$WARD_TMP"
	rm -rf "$P" "$P.old" "$P.new"
	project "$P"
	project "$P.new"
	echo a >"$P/a"
	cd "$P"
	expect 0 "$WARDFS" run --review -s "$1" -- sh -c 'echo new >added; mkdir d; echo x >d/y; echo b >a'
}
refused_here() {
	expect 1 "$WARDFS" review apply
	has "$ERR" "$P is not the directory that session $1 had there"
	has "$ERR" "added: not applied: it is of another directory"
	[ "$(ls)" = "" ] || fail "applied to another project: $(ls)"
}

echo "--- control: moved away and back"
fresh c
cd ..
mv "$P" "$P.old"
mv "$P.old" "$P"
cd "$P"
expect 0 "$WARDFS" review apply
[ -e added ] && [ -e d/y ] && [ "$(cat a)" = b ] || fail "not applied: $ERR"
expect 0 "$WARDFS" review undo
[ ! -e added ] && [ "$(cat a)" = a ] || fail "not undone: $ERR"

echo "--- another directory at its path"
fresh m
cd ..
mv "$P" "$P.old"
mv "$P.new" "$P"
cd "$P"
refused_here m
"$WARDFS" review export "$WARD_TMP/exported" || :
[ -e "$WARD_TMP/exported/files/added" ] || fail "control: not exported: $(find "$WARD_TMP/exported")"

echo "--- a mount on it"
fresh b
mount --bind "$P.new" "$P"
cd "$P"
refused_here b
cd ..
umount "$P"
cd "$P"
expect 0 "$WARDFS" review apply
[ -e added ] || fail "control: not applied: $ERR"
