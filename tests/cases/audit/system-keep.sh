#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A changed wardfs asks the system's writer to keep a trail for a time that the ledger's readers
# have no room for. The trails of that user are verified all the same, and the others are kept as
# long as before. The control asks for the same time as the policy.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
STORE=/var/lib/wardfs-audit
SOCKET=/run/wardfs-audit/socket
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/wardfs-audit "$STORE"
chmod 711 "$STORE"
chown 4712:4712 "$STORE"
unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
service=''
relay=''
trap 'for p in $service $relay; do kill "$p" 2>/dev/null || :; done' EXIT
python3 "$WARD_SRC/tests/support/activate.py" "$SOCKET.real" 4712 "$WARD_BUILD/wardfs-auditd" \
	2>>"$WARD_TMP/service.err" &
service=$!
wait_until 60 test -S "$SOCKET.real" || fail "the service does not start"
project p
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nwriter = system\n' >p.policy
cd p || exit 1
# run SESSION KEEP
run() {
	rm -f "$SOCKET"
	python3 "$WARD_SRC/tests/cases/audit/lib/system-keep-relay.py" "$SOCKET" "$SOCKET.real" "$2" &
	relay=$!
	wait_until 60 test -S "$SOCKET" || fail "no relay"
	expect 0 "$WARDFS" run --policy ../p.policy --session "$1" -- true
	wait $relay || fail "the relay failed"
	relay=
}
verified() {
	expect 0 "$WARDFS" audit verify --state "$STORE/0" --all
	has "$OUT" "ledger: intact"
	for s; do has "$OUT" "$s: intact"; done
}
run control 17280000
verified control
grep -q '"keep":17280000,' "$STORE/0/ledger.jsonl" || fail "control: $(cat "$STORE/0/ledger.jsonl")"
for keep in 18446744073709551615 9223372036854775808; do
	run "k$keep" $keep
done
verified control k18446744073709551615 k9223372036854775808
# None is over, and none is taken away.
expect 0 "$WARDFS" audit prune --state "$STORE/0"
verified control k18446744073709551615 k9223372036854775808
