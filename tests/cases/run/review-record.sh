#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who looked at staged changes, applied, undid or discarded them stands in the ledger, and what came
# of each change beside the trail. Both verifiers find every change of that.
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

state=$XDG_STATE_HOME/wardfs
# both STATE: what both verifiers say of the session.
both() {
	rc=0
	"$WARDFS" audit verify one >verified 2>&1 || rc=$?
	again=0
	second=$(python3 "$WARD_SRC/tests/support/verify.py" "$state" one) || again=$?
	[ "$rc" = "$again" ] || fail "exit $rc and $again: $(cat verified); $second"
	grep -q "one: $1\|one *$1" verified || fail "expected $1: $(cat verified)"
	case $second in
	"one $1 "*) ;;
	*) fail "the second verifier: $second instead of $1" ;;
	esac
}
entries() { grep '"kind":"review"' "$state/ledger.jsonl" | sed 's/.*"verb":"\([a-z]*\)".*/\1/' | tr '\n' ' '; }

fresh
expect 0 "$WARDFS" run --review -s one -- sh -c 'echo new >>changed; rm removed; echo x >added; mkfifo pipe'
cd "$PROJECT"
old=$(sha256sum <changed | cut -d' ' -f1)
expect 0 "$WARDFS" review
manifest=$(echo "$OUT" | sed -n 's/^manifest //p')
expect 1 "$WARDFS" review apply
new=$(sha256sum <changed | cut -d' ' -f1)
expect 0 "$WARDFS" review undo changed
expect 0 "$WARDFS" review discard
[ "$(entries)" = "show apply applied undo undone discard " ] || fail "entries: $(entries)"
[ "$(grep -c "\"verb\":\"show\",\"manifest\":\"$manifest\"" "$state/ledger.jsonl")" = 1 ] ||
	fail "what was shown is not recorded"
grep '"verb":"applied"' "$state/ledger.jsonl" | grep -q '"changes":3,"left":1,"file":1' ||
	fail "applied: $(grep '"verb":"applied"' "$state/ledger.jsonl")"
[ "$(grep -c "\"verb\":\"und[one]*\",\"manifest\":\"$manifest\"" "$state/ledger.jsonl")" = 2 ] ||
	fail "undo: $(grep '"verb":"und' "$state/ledger.jsonl")"
grep '"verb":"applied"' "$state/ledger.jsonl" | grep -q "\"by\":$(id -u)," || fail "by whom?"

files=$state/sessions/one
grep '"path":"changed"' "$files/review.1" | grep -q "\"before\":\"$old\",\"after\":\"$new\",\"end\":\"applied\"" ||
	fail "digests: $(cat "$files/review.1")"
grep '"path":"changed"' "$files/review.2" | grep -q "\"before\":\"$new\",\"after\":\"$old\",\"end\":\"undone\"" ||
	fail "digests of undo: $(cat "$files/review.2")"
grep '"path":"pipe"' "$files/review.1" | grep -q '"end":"refused"' || fail "a refusal is not recorded"

echo "--- the control: intact by both"
both intact

echo "--- a dry run records nothing, and needs no record"
expect 0 "$WARDFS" review undo -s one --dry-run
[ "$(entries)" = "show apply applied undo undone discard " ] || fail "a dry run was recorded"

echo "--- a file that was edited, removed, or is a link"
cp "$files/review.1" "$WARD_TMP/kept"
sed -i 's/applied/refused/' "$files/review.1"
both edited
rm "$files/review.1"
both deleted
ln -s "$WARD_TMP/kept" "$files/review.1"
both edited
rm "$files/review.1"
mkfifo "$files/review.1"
both edited
rm "$files/review.1"
cp "$WARD_TMP/kept" "$files/review.1"
both intact

echo "--- an entry that was edited"
cp "$state/ledger.jsonl" "$WARD_TMP/ledger"
sed -i '/"verb":"applied"/s/"left":1/"left":0/' "$state/ledger.jsonl"
expect 1 "$WARDFS" audit verify --all
has "$OUT$ERR" edited
! second=$(python3 "$WARD_SRC/tests/support/verify.py" "$state") || fail "the second verifier: $second"
cp "$WARD_TMP/ledger" "$state/ledger.jsonl"
both intact

echo "--- without a ledger nothing is applied"
cd "$PROJECT"
expect 0 "$WARDFS" run --review -s two -- sh -c 'echo more >>changed'
mv "$state/key" "$WARD_TMP/key"
before=$(whole)
"$WARDFS" review apply >out 2>&1 && fail "it was applied: $(cat out)"
rm -f out
[ "$(whole)" = "$before" ] || fail "it was applied without a record"
mv "$WARD_TMP/key" "$state/key"
expect 0 "$WARDFS" review apply
