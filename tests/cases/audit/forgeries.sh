#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Forgeries of trails, checkpoints and ledgers: of somebody who can write the files, who has the
# root key too, and who also signs. Both verifiers notice each, but for the last: those agree with
# themselves (rollback in the threat model), and what was kept elsewhere finds them. Then bundles,
# attestations and proofs.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
forge() { python3 "$WARD_SRC/tests/cases/audit/lib/forgeries.py" "$WARD_SRC/tests/support" "$@"; }
run --session one --events 30 --checkpoint 10
run --session two --events 30 --checkpoint 10
run --session packed --events 400 --sync record --rotate 8000 --pack --checkpoint 10
STATE=$PWD/other
run --session one --events 31 --checkpoint 10
foreign=$(audit key show)
audit bundle -o foreign.tar one
audit attest -o foreign.statement one
STATE=$PWD/state
vkey=$(audit key show)
cat state/sessions/*/checkpoints state/ledger.checkpoints >kept
audit verify --all --checkpoints "$PWD/kept" >said || fail "control: $(cat said)"
audit bundle -o good.tar one
audit bundle -o two.tar two
audit attest -o statement one
audit attest -o statement.two two
audit prove one 7 >proof
cp -a state good
n=0
forge >forgeries
while read -r what who; do
	n=$((n + 1))
	rm -rf state
	cp -a good state
	forge "$STATE" "$what"
	diff -qr good state >/dev/null && fail "control: $what changes nothing"
	if [ "$who" = all ]; then
		agree "$what"
		! grep -v ' intact ' mine || fail "control: $what is noticed without anything kept: $(cat mine)"
		audit verify --all --checkpoints "$PWD/kept" >said && fail "$what: $(cat said)"
		continue
	fi
	if [ "$who" = unread ]; then
		expect 125 audit verify --all
		has "$OUT" "one: unread"
		continue
	fi
	agree "$what"
	grep -qv ' intact ' mine || fail "$what is not noticed: $(cat mine)"
done <forgeries
[ $n -ge 50 ] || fail "only $n forgeries"

# away STATUS FILE WHAT: away from this host, with its key
away() {
	rc=0
	HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --key "$vkey" "./$2" >said 2>&1 || rc=$?
	case $1:$rc in 0:0 | bad:1 | bad:125) ;; *) fail "$3: exit $rc: $(cat said)" ;; esac
	[ "$1" = 0 ] || ! grep -qx '.*: intact.*' said || grep -q -e edited -e foreign -e truncated -e deleted said || fail "$3: $(cat said)"
}
away 0 good.tar "control: bundle"
away 0 statement "control: attestation"
away 0 proof "control: proof"
away bad foreign.tar "a bundle of another host"
away bad foreign.statement "a statement of another host"
python3 "$WARD_SRC/tests/cases/audit/lib/forgeries-away.py"
for bad in bad-*; do
	away bad "$bad" "$bad"
	n=$((n + 1))
done
echo "$n forgeries"
