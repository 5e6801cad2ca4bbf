#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A second verifier, written from docs/audit-format.md alone, comes to the same verdict on whatever
# is done to trails and ledger.
set -u
. "$WARD_SRC/tests/support/audit.sh"

for name in one two three; do
	run --session "$name" --events 18 --checkpoint 5
done
run --session four --events 5 --die
run --session five --events 40 --threads 2 --kill-ms 2
# The writer of a session whose supervisor died ends by itself.
i=0
until [ "$(state_of four)" = "incomplete 7 0" ]; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "four: $(state_of four)"
	sleep 0.1
done
mkdir state/sessions/abandoned state/sessions/empty
: >state/sessions/empty/trail.jsonl
agree "untouched"
grep -qx "one intact 20 0" mine || fail "one: $(cat mine)"
vkey=$(audit key show)
agree_public "untouched" "$vkey" one two three five
agree_public "another key" "$(
	STATE=$PWD/other run --session other --events 1
	"$WARD_BUILD/wardfs" audit key show --state "$PWD/other"
)" one
grep -q '^foreign-key' public || fail "another key: $(cat public)"
rm -rf other

cp -a state good
rounds=${WARD_ROUNDS:-60}
round=0
: >names
while [ $round -lt "$rounds" ]; do
	rm -rf state
	cp -a good state
	what=$(python3 "$WARD_SRC/tests/support/tamper.py" "$STATE" $round) || fail "tamper $round"
	agree "round $round: $what"
	for name in one two three; do
		diff -qr "good/sessions/$name" "state/sessions/$name" >/dev/null 2>&1 ||
			agree_public "round $round: $what" "$vkey" "$name"
	done
	cut -d' ' -f2 mine >>names
	grep -qv -e ' intact ' -e ' unstarted ' mine || fail "round $round: $what was not found"
	round=$((round + 1))
done
for state in edited deleted reordered truncated missing foreign-key; do
	grep -qx $state names || fail "no round led to $state: they prove less than they should"
done
