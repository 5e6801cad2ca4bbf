#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody stops the broker of a session while connections flow and others wait, and kills it then:
# no byte passes meanwhile, the session's wall clock rings, `wardfs kill` ends another session, and
# nothing finds another way out. And clients that begin a request and never end it cost the broker
# a bounded amount of memory, which the session pays for.
# timeout: 300
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/held-flow.py" flow.py
cp "$WARD_SRC/tests/cases/network/lib/held-slow.py" slow.py
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$TOP/flow.py" "$TOP/slow.py" .
policy pol 'mode = allowlist' 'allow = echo.example:3000' 'allow = web.example:80' '[limits]' 'wall = 15s' 'grace = 1s'
# of SESSION: its broker, a child of the supervisor
broker() {
	pid=$("$WARDFS" ps --json | python3 -c \
		'import json, sys; print(next(s["pid"] for s in json.load(sys.stdin) if s["session"] == sys.argv[1]))' "$1")
	for child in $(cat "/proc/$pid/task/$pid/children"); do
		[ "$(cat "/proc/$child/comm")" != wardfs-net ] || echo "$child"
	done
}
flows() { [ "$(cat count 2>/dev/null || echo 0)" -gt "$1" ]; }

echo '--- stopped: nothing flows, the clock rings all the same'
"$WARDFS" run --session wall --policy pol -- python3 flow.py 2>err &
run=$!
wait_until 60 flows 5 || fail "control: nothing flows: $(cat err)"
net=$(broker wall)
[ -n "$net" ] || fail "no broker"
kill -STOP "$net"
sleep 0.5
before=$(cat count)
expect 0 "$WARDFS" exec wall python3 -c 'import socket
s = socket.socket(); s.settimeout(1)
try: s.connect(("203.0.113.10", 3000)); s.recv(1); print("through")
except OSError as e: print("held")'
[ "$OUT" = held ] || fail "a connection while the broker is stopped: $OUT"
[ "$(cat count)" -le $((before + 1)) ] || fail "flows without a broker"
rc=0
wait $run || rc=$?
[ $rc -eq 124 ] || fail "the wall clock: $rc $(cat err)"

echo '--- stopped, and ended from outside'
rm -f count
"$WARDFS" run --session kills --policy pol -- python3 flow.py 2>err &
run=$!
wait_until 60 flows 5 || fail "control: nothing flows: $(cat err)"
net=$(broker kills)
kill -STOP "$net"
expect 0 "$WARDFS" kill kills
rc=0
wait $run || rc=$?
[ $rc -ge 124 ] || fail "killed: $rc"

echo '--- killed while connections flow and wait'
rm -f count
"$WARDFS" run --session dies --policy pol -- sh -c 'python3 flow.py & python3 flow.py & wait; sleep 60' 2>err &
run=$!
wait_until 60 flows 5 || fail "control: nothing flows: $(cat err)"
kill -KILL "$(broker dies)"
rc=0
wait $run || rc=$?
[ $rc -eq 125 ] || fail "without its broker: $rc $(cat err)"

echo '--- heads that never end'
# Without root there may be nobody to count memory.
memory='memory = 300M'
[ "$(id -u)" -eq 0 ] || memory=
policy mem 'mode = allowlist' 'allow = web.example:80' '[limits]' 'open-files = 8192' "$memory"
"$WARDFS" run --session slow --policy mem -- python3 slow.py "$SLOW" 2>err &
run=$!
net=
has_broker() { net=$(broker slow) && [ -n "$net" ]; }
wait_until 60 has_broker || fail "no broker: $(cat err)"
rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$net/status"; }
begun=$(rss)
wait_until 120 test -e held || fail "not held: $(cat err)"
grown=$((($(rss) - begun) * 1024 / SLOW))
echo "bytes of the broker a connection: $grown"
# A sanitizer puts zones around each allocation, and keeps what was freed.
most=16384
! grep -aq __asan_init "$WARD_BUILD/wardfs-net" || most=65536
[ $grown -lt $most ] || fail "a client costs $grown bytes"
[ "$(id -u)" -ne 0 ] || has "$(cat "/proc/$net/cgroup")" /wardfs/slow/guard
"$WARDFS" kill slow
wait $run || :
exit 0
S
export SLOW=1000
in_host_both "$WARD_TMP/check.sh"
