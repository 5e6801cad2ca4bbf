#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [audit] keep: what was kept long enough goes, and the ledger says that it expired; nothing goes
# before, whoever asks, and an entry that came too early, or that another key signed, counts for
# nothing.
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
# What was missing does not expire afterwards.
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

# What starts left that were killed before they could mark it goes after an hour; nothing else does.
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
