#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody sets the host's clock while a session runs (to the present time, so that nothing else
# notices). `run` and `mount` record it. The command itself cannot set the clock.
# serial
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to set the clock"
# To what it was before, for as long as this takes: prints that, in seconds.
set_clock='import time
begin = time.monotonic()
time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))
print(time.monotonic() - begin)'
took=0
project p
cd p || exit 1

# clocks SESSION: how many such records, all with a step of less than a second, beside what the
# setting took
clocks() {
	"$WARDFS" audit export "$1" | /usr/bin/python3 -c '
import json, sys
found = [r for r in map(json.loads, sys.stdin) if r["kind"] == "clock"]
assert all(abs(r["step"]) < (1 + float(sys.argv[1])) * 10**9 for r in found), found
print(len(found))' "$took"
}

expect 0 "$WARDFS" run --session quiet -- true
[ "$(clocks quiet)" = 0 ] || fail "control: a clock that nobody set"

"$WARDFS" run --session set -- sh -c 'echo here >started; until [ -e stop ]; do sleep 0.1; done' >../out 2>&1 &
run=$!
trap '"$WARDFS" kill set 2>/dev/null || :' EXIT
wait_until 60 test -s started || fail "not started: $(cat ../out)"
took=$(/usr/bin/python3 -c "$set_clock") || fail "control: the clock cannot be set here"
wait_until 60 sh -c '"$0" audit show set | grep -q " clock "' "$WARDFS" || fail "no record: $("$WARDFS" audit show set)"
: >stop
trap - EXIT
wait $run || fail "$(cat ../out)"
[ "$(clocks set)" -ge 1 ] || fail "$(clocks set)"
expect 0 "$WARDFS" audit verify set

expect 1 "$WARDFS" run --session inside -- /usr/bin/python3 -c "$set_clock"
has "$ERR" "Operation not permitted"
[ "$(clocks inside)" = 0 ] || fail "it was set from inside"

mkdir ../mnt
expect 0 "$WARDFS" mount --session mounted . ../mnt
/usr/bin/python3 -c "$set_clock" >/dev/null
wait_until 60 sh -c '"$0" audit show mounted | grep -q " clock "' "$WARDFS" || rc=1
expect 0 "$WARDFS" umount ../mnt
[ -z "${rc-}" ] || fail "mount: no record"
exit 0
