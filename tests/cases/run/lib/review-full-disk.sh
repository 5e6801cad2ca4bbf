# SPDX-License-Identifier: Apache-2.0
# Part of ../review-full.sh, in a mount namespace of its own: a project on a small file system, then
# a small state directory. What is on them may be lost with them.
set -eu
. "$WARD_SRC/tests/lib.sh"

small() { mount -t tmpfs -o "size=$2,mode=755" tmpfs "$1"; }
sums() { (cd "$1" && sha256sum f*); }
fill() { ! head -c 100M /dev/zero >"$1" 2>/dev/null || fail "control: $1 is not full"; }
stage() {
	for n in 1 2 3 4 5 6; do head -c 100000 /dev/zero | tr '\0' "$n" >"f$n"; done
	expect 0 "$WARDFS" run --review -s "$1" -- sh -c 'for n in 1 2 3 4 5 6; do echo changed >>f$n; done'
}
each() {
	for n in 1 2 3 4 5 6; do
		now=$(sha256sum <"f$n")
		[ "$now" = "$(sha256sum <"$WARD_TMP/$1/f$n")" ] || [ "$now" = "$(sha256sum <"$WARD_TMP/$2/f$n")" ] ||
			fail "f$n is neither as before nor as after"
	done
}

echo "--- the project's disk is full"
mkdir "$WARD_TMP/project" "$WARD_TMP/old" "$WARD_TMP/new"
small "$WARD_TMP/project" 2M
project "$WARD_TMP/project"
cd "$WARD_TMP/project"
stage one
cp f* "$WARD_TMP/old"
cp f* "$WARD_TMP/new"
for n in 1 2 3 4 5 6; do echo changed >>"$WARD_TMP/new/f$n"; done
head -c 250000 /dev/zero >room
fill filler
rm room
expect 1 "$WARDFS" review apply
has "$ERR" "No space left on device"
each old new
[ -z "$(find . -name '.wardfs-apply*')" ] || fail "left behind"
rm filler
expect 0 "$WARDFS" review apply
[ "$(sums .)" = "$(sums "$WARD_TMP/new")" ] || fail "the second apply did not finish"
fill filler
"$WARDFS" review undo >out 2>&1 || :
each old new
rm filler
expect 0 "$WARDFS" review undo
[ "$(sums .)" = "$(sums "$WARD_TMP/old")" ] || fail "the second undo did not finish"

echo "--- the disk of the state directory is full"
mkdir "$WARD_TMP/state" "$WARD_TMP/second"
small "$WARD_TMP/state" 8M
XDG_STATE_HOME=$WARD_TMP/state
export XDG_STATE_HOME
project "$WARD_TMP/second"
cd "$WARD_TMP/second"
stage two
fill "$WARD_TMP/state/filler"
before=$(sums .)
code=0
"$WARDFS" review apply >"$WARD_TMP/out" 2>&1 || code=$?
[ "$code" = 125 ] || [ "$code" = 1 ] || fail "exit $code: $(cat "$WARD_TMP/out")"
grep -q "No space left on device" "$WARD_TMP/out" || fail "$(cat "$WARD_TMP/out")"
[ "$(sums .)" = "$before" ] || fail "it was applied without a record"
rm "$WARD_TMP/state/filler"
expect 0 "$WARDFS" review apply
[ "$(sums .)" = "$(sums "$WARD_TMP/new")" ] || fail "the second apply did not finish"
