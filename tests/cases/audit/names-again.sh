#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs does not reuse the name of a removed trail. If somebody with the key does, the later
# session does not stand in for the earlier one, in either direction: neither a legal removal nor
# an existing trail hides a missing one.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

said() { # said SESSION STATE
	agree "$1 is $2"
	grep -q "^$1 $2 " mine || fail "$1: $(grep "^$1 " mine), not $2"
}

run --session x --events 5
said x intact
rm -r state/sessions/x
said x missing
run --session x --events 7
[ "$(ls state/sessions)" = x.2 ] || fail "the name of a missing trail: $(ls state/sessions)"
said x missing
said x.2 intact
# removed: the same; a name that nobody had is given as it is
run --session y --events 5
[ -d state/sessions/y ] || fail "control: $(ls state/sessions)"
audit remove --force --reason test y || fail "remove"
run --session y --events 5
audit remove --force --reason test y.2 || fail "remove"
run --session y --events 5
[ -d state/sessions/y.3 ] || fail "the names of removed trails: $(ls state/sessions)"
said y removed
# Not of the same name: what only begins so.
for name in y.0 y.02 y.x yy y.99999999999999999999; do
	run --session "$name" --events 1
	[ -d "state/sessions/$name" ] || fail "control: $name"
done
run --session z --events 1
[ -d state/sessions/z ] || fail "control: z"

# A session that did not look: z, whose entries come after the existing ones.
again() {
	mv state/ledger.jsonl before
	run --session z --events "$1"
	python3 "$WARD_SRC/tests/cases/audit/lib/names-again-entries.py" "$WARD_SRC/tests/support" before state/ledger.jsonl state/key || fail "entries"
}
cp -a state good
audit remove --force --reason test z || fail "remove"
said z removed
again 9
[ -d state/sessions/z ] || fail "control: it has the same name: $(ls state/sessions)"
said z intact
said ledger intact
cp -a state/sessions/z second
audit attest z >statement || fail "attest"
rm -r state/sessions/z
said z missing
audit show z 2>err && fail "show"
grep -q 'z: its trail is missing' err || fail "show: $(cat err)"
# and what was not removed is missed, also where there is a trail
rm -rf state
mv good state
rm -r state/sessions/z
said z missing
again 9
said z missing
said ledger intact
audit verify z >said && fail "verify"
grep -q 'an earlier session had this name' said || fail "verify: $(cat said)"
audit list | grep -q '^z .*an earlier trail of this name is missing' || fail "list: $(audit list)"
audit attest z >statement 2>err && fail "attested: $(cat statement)"
audit remove --force --reason test z || fail "remove"
said z missing
