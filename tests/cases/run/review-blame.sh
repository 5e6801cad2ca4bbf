#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit file --blame: from which session a line is, through applies, undos, renames, changes
# of the host, and contents that are kept no more.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

state=$XDG_STATE_HOME/wardfs
# blamed PATH: the session of each line.
blamed() { "$WARDFS" audit file --blame "$1" | sed -n '/^?:/d; s/^\([^ ]*\) .*/\1/p' | tr '\n' ' '; }
is() {
	had=$(blamed "$1")
	[ "$had" = "$2 " ] || fail "$1: '$had' instead of '$2': $("$WARDFS" audit file --blame "$1")"
}
# change NAME SCRIPT: a session with these changes, applied.
change() {
	expect 0 "$WARDFS" run --review -s "$1" -- sh -euc "$2"
	expect 0 "$WARDFS" review apply
}

fresh
printf '1\n2\n3\n4\n' >changed
own
expect 0 "$WARDFS" run -s first -- true
echo '--- no review yet: all lines are the project'\''s own'
is changed 'project project project project'

echo '--- two sessions, and the host between them'
change one 'sed -i s/2/two/ changed; echo five >>changed; printf "a\nb\n" >added'
is changed 'project one project project one'
is added 'one one'
sed -i 's/^4/host/' changed
change two 'sed -i s/five/FIVE/ changed; sed -i 1d added'
is changed 'project one project project two'
is added one
echo mine >>changed
is changed 'project one project project two project'
expect 0 "$WARDFS" audit file --blame changed
has "$OUT" 'two ' '5  FIVE' '6  mine'

echo '--- JSON'
"$WARDFS" audit file --blame --json changed >json
python3 "$WARD_SRC/tests/cases/run/lib/review-blame-json.py" json "$(sha256sum <changed | cut -d' ' -f1)" ||
	fail "$(cat json)"
rm json

echo '--- undone: the lines are those of before; and applied again'
sed -i '$d' changed
expect 0 "$WARDFS" review undo
is changed 'project one project project one'
expect 0 "$WARDFS" review apply -s two
is changed 'project one project project two'

echo '--- renamed: lines keep their sessions'
change three 'mv changed moved; echo three >>moved'
is moved 'project one project project two three'
expect 125 "$WARDFS" audit file --blame changed
has "$ERR" 'has no lines'

echo '--- removed, and made again by the host'
change four 'rm moved'
printf '1\ntwo\n' >moved
is moved 'project project'

echo '--- hunks: only those that came'
fresh
printf '%s\n' a b c d e f g h i j k l m n o p q r s t >untouched
own
expect 0 "$WARDFS" run --review -s parts -- sh -euc 'sed -i "s/^a$/A/; s/^t$/T/" untouched'
printf 'y\nn\n' | "$WARDFS" review apply -i >/dev/null || :
[ "$(head -n1 untouched)$(tail -n1 untouched)" = At ] || fail "not in part: $(cat untouched)"
lines=$(blamed untouched)
[ "$lines" = "parts $(yes project | head -19 | tr '\n' ' ')" ] || fail "hunks: $lines"

echo '--- what is kept no more: unknown, and said so'
fresh
printf '1\n2\n' >removed
own
change five 'echo five >>removed'
change six 'echo six >>removed'
is removed 'project project five six'
expect 0 "$WARDFS" review discard -s five
is removed 'project project five six'
rm -r "$state/reviews/five"
# The content of before the first one is gone; that of after it is the one of before the second one.
is removed '? ? ? six'
expect 0 "$WARDFS" audit file --blame removed
has "$OUT" '?: of session five or of the project'
rm -r "$state/reviews/six"
is removed '? ? ? ?'
expect 0 "$WARDFS" audit file --blame removed
has "$OUT" '?: of session five or' '?: of session six or'
expect 0 "$WARDFS" audit file --blame --json removed
has "$OUT" '"unknown"' '"five"' '"six"'

echo '--- attack: another content in the place of one that is kept counts for nothing'
fresh
printf '1\n2\n' >renamed
own
change seven 'echo seven >>renamed'
kept=$(grep -lsx 1 "$state"/reviews/seven/undo/* | head -1)
cp "$kept" "$WARD_TMP/kept"
printf '1\nX\n' >"$kept"
rm -rf "$state/reviews/seven/bases"
is renamed '? ? ?'
cat "$WARD_TMP/kept" >"$kept"
is renamed 'project project seven'

echo '--- what has no lines; control characters; usage'
printf 'a\0b\n' >binary
printf 'x\033[2Jy\n' >colored
ln -s renamed link
for f in binary link nosuch d; do
	expect 125 "$WARDFS" audit file --blame "$f"
	has "$ERR" 'has no lines'
done
"$WARDFS" audit file --blame colored | grep -q "$(printf '\033')" && fail 'a control character came through'
expect 125 "$WARDFS" audit file --blame renamed seven
has "$ERR" 'takes neither a session'
