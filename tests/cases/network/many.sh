#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Thousands of connections one after the other, and none fails; a thousand at once, and all arrive
# whole while the broker stays small. As an ordinary user, and as root with fewer.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/many-streams.py" streams.py
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
short=2000 streams=1000
[ "$(id -u)" -ne 0 ] || short=300 streams=200
cp "$TOP/streams.py" .
policy pol 'mode = allowlist' 'allow = echo.example:3000' 'allow = web.example' '[limits]' 'open-files = 8192'
expect 0 "$WARDFS" run --session short --policy pol -- python3 n.py times $short echo.example 3000
[ "$OUT" = $short ] || fail "short connections: $OUT $ERR"
# Each stands in the trail twice, at its beginning and at its end.
expect 0 "$WARDFS" audit show short --kind connect
[ "$(echo "$OUT" | grep -c 'host echo.example .* sent 4 ')" -eq $short ] || fail "connections are missing in the trail"

"$WARDFS" run --session streams --policy pol -- python3 streams.py $streams 100000 >out 2>err &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
wait_until 200 test -e held || fail "not all are open: $(cat out err)"
total=0
broker=$(brokers "$run")
for p in $broker $(brokers "$broker"); do
	# Each process counts the memory that they share, so the sum is too high.
	kb=$(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$p/status")
	total=$((total + kb))
done
touch measured
wait "$run" || fail "streams: $(cat out err)"
[ "$(cat out)" = $streams ] || fail "whole streams: $(cat out err)"
[ "$total" -gt 0 ] || fail "control: no wardfs-net was found"
# Sanitizers keep memory of their own beside it.
[ "$total" -le 65536 ] || grep -aq __asan_init "$WARD_BUILD/wardfs-net" || fail "wardfs-net takes $total kB"
expect 0 "$WARDFS" audit verify streams
exit 0
S
in_host_both "$WARD_TMP/check.sh"
