#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit verify and the second verifier find an access that no rule and no live grant
# allows, even if the macs are right. Each bad trail has its control: the same trail without that
# record.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session good --events 3 --granted 0
run --session spent --events 3 --granted 10
for i in 1 2 3 4 5 6 7 8 9; do
	run --session "wrong$i" --events 3 --granted "$i"
done
for good in good spent; do
	audit verify "$good" >verdict || fail "control: $(cat verdict)"
	grep -q "^$good: intact" verdict || fail "control: $(cat verdict)"
done
# wrong N WHY
wrong() {
	audit verify "wrong$1" >verdict && fail "$1 is not found: $(cat verdict)"
	grep -q "^wrong$1: edited at record [0-9]*: an access that no rule and no live grant allows: $2" verdict ||
		fail "$1: $(cat verdict)"
}
wrong 1 'the grant was given later'
wrong 2 'the grant had ended'
wrong 3 'no use of the grant is before it'
wrong 4 'no grant of that id was given'
wrong 5 'the grant gives other rights'
wrong 6 'the uses of the grant were spent'
wrong 7 'no grant of that id was given'
wrong 8 'the grant had ended'
wrong 9 'the grant had ended'
agree "grants"
vkey=$(audit key show)
agree_public "grants" "$vkey" good wrong1 wrong3 wrong5 wrong8
