#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host stopped, and the journal of staged changes, or the log of what was applied, ends with
# zeros or half a line: what was appended last, and did not reach the disk. What stands before is
# reviewed, applied and undone. Zeros in front of other text are damage.
set -eu
. "$WARD_SRC/tests/lib.sh"
export XDG_STATE_HOME="$WARD_TMP/state"
project "$WARD_TMP/p"
cd "$WARD_TMP/p" || exit 1
echo before >changed
expect 0 "$WARDFS" run --review --session staged -- sh -c 'echo after >changed; echo new >made'
journal=$XDG_STATE_HOME/wardfs/reviews/staged/journal
[ -s "$journal" ] || fail "control: no journal"
cp "$journal" journal.kept

# end FILE PYTHON: the file becomes what this makes of its bytes d
end() {
	python3 -c 'import sys
d = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(eval(sys.argv[2]))' "$1" "$2"
}

for form in 'd + bytes(3000)' 'd + b"N 1 zz" + bytes(500)' 'd + b"N 1 zz"'; do
	cp journal.kept "$journal"
	end "$journal" "$form"
	expect 0 "$WARDFS" review -s staged
	has "$OUT" "A made"
	has "$OUT" "M changed"
done
cp journal.kept "$journal"
end "$journal" 'd[:9] + bytes(9) + d[18:]'
refused "the journal of staged changes is damaged" "$WARDFS" review -s staged

cp journal.kept "$journal"
end "$journal" 'd + bytes(3000)'
rm journal.kept
expect 0 "$WARDFS" review apply -s staged
[ "$(cat changed made)" = "after
new" ] || fail "applied: $(cat changed made)"
log=$(find "$XDG_STATE_HOME/wardfs/reviews/staged" -name log)
[ -s "$log" ] || fail "control: no log: $(find "$XDG_STATE_HOME")"
end "$log" 'd + b"x 1" + bytes(3000)'
expect 0 "$WARDFS" review undo -s staged
[ "$(cat changed)" = before ] || fail "undone: $(cat changed)"
[ ! -e made ] || fail "made is there"
