#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A second verifier, written from docs/audit-format.md alone, gives the same verdict on every
# forged trail and ledger.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

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

# all_public WHAT: every session, with the public key alone
all_public() {
	mine=0
	audit verify --json --all --key "$vkey" >verify.json || mine=$?
	python3 -c 'import json
for r in json.load(open("verify.json")):
    print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)' >mine
	rc=0
	python3 "$WARD_SRC/tests/support/verify.py" --key "$vkey" --all "$STATE" >theirs || rc=$?
	[ $rc -eq $mine ] || fail "$1, all, public: exit $mine"
	diff mine theirs >&2 || fail "$1: the verifiers do not agree on all with a public key"
}
cp -a state good
all_public "untouched"
[ $mine -eq 1 ] || fail "four is incomplete, and yet exit $mine"
grep -q '^one intact 20 0$' mine || fail "one: $(cat mine)"
rm -r state/sessions/four state/sessions/five
all_public "without those that are not"
[ $mine -eq 0 ] || fail "all are intact, and yet exit $mine"
rm state/sessions/two/trail.jsonl state/sessions/three/checkpoints
all_public "without a trail, without checkpoints"
printf '%s\n' "abandoned unstarted 0 0" "empty unstarted 0 0" "three deleted 0 0" \
	"two missing 0 0" >want
grep -v "^one " mine | diff want - >&2 || fail "all, public: $(cat mine)"
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

# Trails that say themselves that something is missing: a trail, and the ledger, first with a line
# that has no end, then with the entry about it.
rm -rf state
run --session gap --every --checkpoint 5
vkey=$(audit key show)
agree "gap"
records=$(wc -l <state/sessions/gap/trail.jsonl)
grep -qx "gap gap $records 0" mine || fail "gap: $(cat mine)"
agree_public "gap" "$vkey" gap
grep -qx "gap $records 0" public || fail "gap, public: $(cat public)"
printf '{"v":1,"seq"' >>state/ledger.jsonl
agree "a torn ledger"
grep -q "^ledger incomplete " mine || fail "a torn ledger: $(cat mine)"
run --session next --events 3
agree "a ledger that was torn"
grep -q "^ledger gap " mine && grep -qx "next intact 5 0" mine || fail "a ledger that was torn: $(cat mine)"
