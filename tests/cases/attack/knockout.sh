#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attack --knock-out: wardfs with one layer left out. Each layer is found by an attempt that
# names it, or wardfs does not start without it, or another layer stands in front of it.
# docs/attack.md has the same table. An installed wardfs has nothing to leave a layer out with.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"

WARDFS=$WARD_BUILD/wardfs
export XDG_STATE_HOME="$WARD_TMP/state"
mkdir project && cd project

"$WARDFS" attack --knock-out all >../matrix || fail "exit $?: $(cat ../matrix)"
[ "$(wc -l <../matrix)" -ge 13 ] || fail "few layers: $(cat ../matrix)"
# The lines that every kernel has: the first attempt that is named, or the text.
python3 "$WARD_SRC/tests/support/matrix.py" ../matrix "$WARD_SRC/docs/attack.md" ||
	fail "docs/attack.md has another table than --knock-out"

echo "--- one layer, as JSON"
"$WARDFS" attack --knock-out uts-namespace --group confinement --json >../one.json || fail "$(cat ../one.json)"
grep -q '"share-uts"' ../one.json || fail "$(cat ../one.json)"
rc=0
"$WARDFS" attack --knock-out guard --group network --json >../none.json || rc=$?
[ "$rc" = 1 ] || fail "a layer that no attempt saw missing: exit $rc: $(cat ../none.json)"

echo "--- not without a build directory, and not for others"
mkdir ../installed
cp "$WARDFS" ../installed/
ln -s "$WARD_BUILD"/wardfs-* ../installed/
expect 2 ../installed/wardfs attack --knock-out seccomp
echo "$ERR" | grep -q 'an installed wardfs cannot leave a layer out' || fail "$ERR"
echo seccomp >../installed/knock
rc=0
../installed/wardfs attack --only userfaultfd,io-uring >../whole || rc=$?
[ "$rc" = 0 ] || fail "a file left a layer out: $(cat ../whole)"
expect 2 "$WARDFS" attack --knock-out nothing
echo "$ERR" | grep -q "no layer is called 'nothing'" || fail "$ERR"
expect 2 "$WARDFS" attack --knock-out seccomp --sandbox 'env --'
for left in wardfs-attack.* "$TMPDIR"/wardfs-attack.*; do
	[ ! -e "$left" ] || fail "$left is left"
done
