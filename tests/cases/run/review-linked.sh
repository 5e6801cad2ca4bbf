#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files of the project that have several names on the host: what a session changes in them is listed
# and applied, whichever of the names it removes, with steps and in a branch of it. A journal of an
# earlier version has one name of each.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

# Which of its names wardfs knows a file by first depends on who looked first: each goes once.
fresh_names() {
	fresh
	echo old >a
	ln a d/b
	ln a d/c
	echo two >x
	ln x gone/y
	own
	was=$(whole)
	inode=$(stat -c %i a)
}
# applied NAME PATH TEXT: the session's change is at PATH, listed by a name that stays, and an undo
# takes it back.
applied() {
	expect 0 "$WARDFS" review "$1"
	has "$OUT" "  M "
	hasnt "$OUT" "  D $2"
	expect 0 "$WARDFS" review apply -s "$1"
	[ "$(cat "$2")" = "$3" ] || fail "$2 has: $(cat "$2"); listed: $OUT"
	expect 0 "$WARDFS" review apply -s "$1"
	[ "$(cat "$2")" = "$3" ] || fail "another apply: $2 has: $(cat "$2")"
	no_rest
	expect 0 "$WARDFS" review undo -s "$1"
	[ "$(whole)" = "$was" ] || fail "undo: $(whole)"
	[ "$(stat -c %i d/b)" = "$inode" ] || fail "undo: another inode"
	own
}

echo "--- a name is removed, and another one written to"
for gone in a d/b d/c; do
	fresh_names
	stays=a
	[ $gone != a ] || stays=d/b
	n=$(echo "one-$gone" | tr / -)
	expect 0 "$WARDFS" run --review -s "$n" -- \
		sh -euc "find . >/dev/null; echo new >>a; rm $gone; echo more >>$stays"
	[ "$(whole)" = "$was" ] || fail "the project changed"
	applied "$n" $stays "old
new
more"
done

echo "--- two are removed or replaced, and a descriptor written to"
for stays in a d/b d/c; do
	fresh_names
	n=$(echo "two-$stays" | tr / -)
	others=$(printf '%s\n' a d/b d/c | grep -vx "$stays" | tr '\n' ' ')
	# shellcheck disable=SC2086
	set -- $others
	expect 0 "$WARDFS" run --review -s "$n" -- sh -euc "find . >/dev/null
		exec 3>>$stays; rm $1; echo z >z; mv z $2; echo late >&3"
	applied "$n" "$stays" "old
late"
done

echo "--- a new name, the only one for a while"
fresh_names
expect 0 "$WARDFS" run --review -s renamed -- sh -euc 'find . >/dev/null
	echo new >>a; mv a e; rm d/b; rm e; mv d f; echo more >>f/c'
expect 0 "$WARDFS" review renamed
has "$OUT" "  M f/c"
expect 0 "$WARDFS" review apply -s renamed
[ "$(cat f/c)" = "old
new
more" ] && [ ! -e a ] && [ ! -e d ] && [ ! -e f/b ] || fail "applied: $(whole)"
expect 0 "$WARDFS" review undo -s renamed
[ "$(whole)" = "$was" ] || fail "undo: $(whole)"

echo "--- steps: what is at each of them has its change"
fresh_names
steps_session steps
inside steps 'find . >/dev/null; rm d/c; echo new >>a; rm a'
expect 0 "$WARDFS" review mark -s steps first
then=$(seen steps)
inside steps 'ln d/b a; rm d/b; echo more >>a'
expect 0 "$WARDFS" review mark -s steps second
inside steps 'rm a; ln x e; rm x; echo last >>gone/y'
expect 0 "$WARDFS" review back -s steps second
[ "$(inside steps 'cat a')" = "old
new
more" ] || fail "second: $(seen steps)"
expect 0 "$WARDFS" review back -s steps first
same "first" "$then" "$(seen steps)"
steps_over steps
expect 0 "$WARDFS" review steps
has "$OUT" "  M d/b"
hasnt "$OUT" "  M a"
expect 0 "$WARDFS" review steps@second
has "$OUT" "  M a"

echo "--- a session that begins with it"
expect 0 "$WARDFS" run --review --from steps -s branch -- sh -euc \
	'[ ! -e a ]; [ ! -e d/c ]; cat d/b; echo branch >>d/b'
has "$OUT" "new"
applied branch d/b "old
new
branch"
expect 0 "$WARDFS" run --review --from branch -s twig -- sh -euc 'ln d/b a; rm d/b; echo twig >>a'
applied twig a "old
new
branch
twig"

echo "--- a journal of an earlier version is read"
applied steps d/b "old
new"
store=$XDG_STATE_HOME/wardfs/reviews/steps
grep -q '^P ' "$store/journal" || fail "control: there is no further place"
sed -i -e '1s/^J 3;/J 2;/' -e '/^P /d' "$store/journal"
expect 0 "$WARDFS" review steps
has "$OUT" "D a"
sed -i '1s/^J 2;/J 4;/' "$store/journal"
expect 125 "$WARDFS" review steps
has "$ERR" "damaged"
