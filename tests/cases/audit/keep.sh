#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [audit] keep: a trail that was kept long enough goes, and the ledger says that it expired.
# Nothing goes earlier, whoever asks. An expiry that came too early, or that another key signed,
# counts for nothing.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# state NAME STATE: what both verifiers say of it
is() {
	agree "$1 is $2"
	grep -q "^$1 $2 " mine || fail "$1: $(grep "^$1 " mine), not $2"
}
there() {
	[ -d "$STATE/sessions/$1" ]
}
# ended_ago NAME: more than its second of keep=1 went by
ended_ago() {
	i=0
	until audit prune --json >pruned && ! there "$1"; do
		i=$((i + 1))
		[ $i -lt 600 ] || fail "$1 does not expire: $(cat pruned)"
		sleep 0.1
	done
}

run --session long --events 20 --keep 86400 --rotate 3000 --sync record
run --session short --events 20 --keep 1 --rotate 3000 --sync record
run --session gone --events 20 --keep 1
rm -r state/sessions/gone
is gone missing
ended_ago short
is short expired
is long intact
# A trail that was missing does not expire afterwards.
is gone missing
audit verify short >said || fail "expired is nothing to complain about: $(cat said)"
grep -q 'expired' said || fail "$(cat said)"
audit show short 2>said && fail "show of what expired"
grep -q 'short: its trail expired 20' said || fail "show: $(cat said)"
audit list | grep -q '^short .* expired 20' || fail "list: $(audit list)"
audit prune >said || fail "prune again: $(cat said)"
grep -q '^0 trails expired; 0 files' said || fail "twice: $(cat said)"
is short expired
# the long one was compressed by the way, all of it
[ -z "$(find state/sessions/long -name '*.jsonl')" ] || fail "not compressed: $(ls state/sessions/long)"
is long intact
[ -e state/sessions/long/trail.jsonl.zst ] || fail "long: $(ls state/sessions/long)"

# Starts that were killed before they could mark their trail leave it behind. It goes after an hour,
# and nothing else does.
for name in unborn young record more; do
	mkdir "state/sessions/$name"
	: >"state/sessions/$name/trail.jsonl"
	: >"state/sessions/$name/checkpoints"
	echo policy >"state/sessions/$name/policy"
done
echo '{}' >state/sessions/record/trail.jsonl
echo mine >state/sessions/more/notes
for name in unborn record more; do touch -d '2 hours ago' "state/sessions/$name"; done
audit prune >said || fail "unborn sessions: $(cat said)"
there unborn && fail "a session that never began stays"
for name in young record more long; do
	there "$name" || fail "$name went, which is no session that never began"
done
rm -r state/sessions/young state/sessions/record state/sessions/more

# Attack: an entry that makes a trail expire too early. Its mac is good, its signature is good (who
# has root key and signing key can do all that), and yet its own time says that it is no expiry.
cp "$WARD_SRC/tests/cases/audit/lib/keep-forge.py" forge.py
cp -a state good
rm -r state/sessions/long
for how in "$(date -u +%Y-%m-%dT%H:%M:%S.000000000Z) own missing" \
	"$(date -u -d 'now + 2 days' +%Y-%m-%dT%H:%M:%S.000000000Z) other missing" \
	"$(date -u -d 'now + 2 days' +%Y-%m-%dT%H:%M:%S.000000000Z) own expired"; do
	# shellcheck disable=SC2086 # three words
	set -- $how
	cp good/ledger.jsonl state/ledger.jsonl
	python3 forge.py "$STATE" long "$1" "$2" || fail "forge"
	is long "$3"
	grep -q '^ledger intact ' mine || fail "the forged entry has no good mac: $(cat mine)"
done

# --- a promise both ways: who deletes before its time says why, and what is on hold stays ---
rm -rf state forge.py
run --session long --events 5 --keep 86400
run --session short --events 5 --keep 1
expect 125 audit remove long
has "$ERR" "the policy of long keeps the trail until 20"
expect 2 audit remove --force long
has "$ERR" "--force needs --reason"
expect 2 audit remove --force --reason ' ' long
expect 2 audit hold short
has "$ERR" "give --reason TEXT"
expect 2 audit release short
has "$ERR" "audit release: give --reason TEXT"
expect 125 audit hold --reason why nobody
expect 125 audit release --reason why short
has "$ERR" "short is not on hold"
expect 0 audit hold --reason 'case 7: "evidence"' sho
[ "$OUT" = "short: on hold" ] || fail "it does not say which: $OUT"
expect 0 audit hold --reason 'case 7' long
agree "on hold"
grep -q '^ledger intact ' mine || fail "hold: $(cat mine)"
audit list | grep -q '^short .*; on hold: case 7: "evidence"$' || fail "list: $(audit list)"
audit list --json | python3 -c 'import json, sys
assert {s["session"]: s["held"] for s in json.load(sys.stdin)} == {
    "short": "case 7: \"evidence\"", "long": "case 7"}' || fail "list --json: $(audit list --json)"
# The time of the short one is over, as its control below shows, and it stays.
sleep 2
audit prune --json >pruned || fail "prune"
there short || fail "a trail on hold expired"
expect 125 audit remove short
has "$ERR" "short is on hold since 20"
has "$ERR" "wardfs audit release --reason TEXT short"
expect 125 audit remove --force --reason 'must go' long
has "$ERR" "long is on hold"
# Attack: entries by who has all keys, which a hold does not let count. The control is the same
# release.
cp -a state held
for how in removed expired; do
	for hold in hold release; do
		rm -rf state
		cp -a held state
		[ $hold = hold ] || audit release --reason 'closed' short || fail "release"
		python3 "$WARD_SRC/tests/cases/audit/lib/keep-forge.py" "$STATE" short \
			"$(date -u -d 'now + 2 days' +%Y-%m-%dT%H:%M:%S.000000000Z)" own $how || fail "forge $how"
		rm -r state/sessions/short
		[ $hold = hold ] && is short missing || is short $how
	done
done
rm -rf state
mv held state
audit release --reason closed short || fail "release: short"
audit prune >/dev/null && ! there short || fail "control: it does not go after its release"
is short expired
expect 125 audit hold --reason again short
has "$ERR" "the trail of short no longer exists"
expect 0 audit release --reason closed lon
[ "$OUT" = "long: released" ] || fail "it does not say which: $OUT"
audit remove --force --reason 'a request of its owner' long ||
	fail "remove --force"
is long removed
grep '"kind":"removed"' state/ledger.jsonl | grep -q '"reason":"a request of its owner","by":' ||
	fail "why: $(tail -n 1 state/ledger.jsonl)"

# --- remove: what stands for a name is asked about, and the ledger must have what it had ---
rm -rf state
run --session day1 --events 5 --keep 1
run --session day2 --events 5 --keep 1
sleep 2
expect 125 audit remove latest
has "$ERR" "latest means the session day2"
has "$ERR" "wardfs audit remove day2"
expect 125 audit remove day
has "$ERR" "day means 2 sessions: day1 day2"
# A person is asked, and is told which one it is.
said() {
	printf '%s\n' "$1" | python3 "$WARD_SRC/tests/cases/audit/lib/keep-ask.py" "$WARDFS" audit remove --state "$STATE" day2x
}
run --session day2xy --events 5 --keep 1
sleep 2
expect 125 said n
has "$OUT" "delete the trail of day2xy (started 20"
has "$OUT" "day2xy was not removed"
there day2xy || fail "it went against the answer"
expect 0 said y
has "$OUT" "day2xy: removed"
! there day2xy || fail "control: the answer was yes"
# Attack: the end of the ledger, with the hold in it, is cut off. The control is the whole ledger.
cp state/ledger.jsonl whole
audit hold --reason evidence day1 || fail "hold"
cp whole state/ledger.jsonl
expect 125 audit remove day1
has "$ERR" "the ledger is not intact (truncated"
has "$ERR" "wardfs audit remove --force --reason TEXT day1"
there day1 || fail "removed by a ledger that was cut"
expect 2 audit remove --force day1
expect 0 audit remove --force --reason 'the disk was exchanged' day1
[ "$OUT" = "day1: removed" ] || fail "it does not say which: $OUT"
