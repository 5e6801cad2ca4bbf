#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sessions begin and end at the same time, the first ones on a host without a key. They share one
# key and one ledger, and each session is whole. A signal from the terminal does not end a trail.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

pids=
i=0
while [ $i -lt 8 ]; do
	"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" \
		--state "$STATE" --events 200 >"out.$i" 2>"err.$i" &
	pids="$pids $!"
	i=$((i + 1))
done
for pid in $pids; do
	wait "$pid" || fail "a session failed: $(cat err.*)"
done
audit verify --all >out || fail "$(cat out)"
[ "$(grep -c ': intact (202 records' out)" -eq 8 ] || fail "$(cat out)"
grep -q '^ledger: intact (16 records' out || fail "$(cat out)"
agree "parallel"
for f in state/key.*; do
	[ ! -e "$f" ] || fail "left behind: $f"
done

mkfifo gate
"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$STATE" \
	--session signalled --hold <gate >held 2>err &
starter=$!
exec 9>gate
i=0
until grep -q ready held 2>/dev/null; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "the session does not start: $(cat err)"
	sleep 0.1
done
# The line has no end: read(1) says so with its status.
read -r writer _ <"/proc/$starter/task/$starter/children" || [ -n "$writer" ]
for signal in INT QUIT TERM HUP TSTP; do
	kill -$signal "$writer"
done
# Its cage: no capability, no new privileges, a filter, not readable by its own user.
grep -q '^CapEff:	0000000000000000' "/proc/$writer/status" || fail "capabilities"
grep -q '^NoNewPrivs:	1' "/proc/$writer/status" || fail "no_new_privs"
grep -q '^Seccomp:	2' "/proc/$writer/status" || fail "seccomp"
exec 9>&-
wait "$starter" || fail "$(cat err)"
audit verify signalled || fail "signalled"
