#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPU time on a busy machine: the limit counts CPU time, not wall time. It ends no command early,
# and ends the one that uses it up.
# plain
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$WARD_TMP/state" XDG_RUNTIME_DIR="$WARD_TMP/run"
mkdir -p p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
cd p || exit 1
limits 'cpu-time = 60s' -- true || skip "no control group counts CPU time"
# Six busy processes for each CPU compete with the session: it gets at most a seventh of a CPU.
hogs=
trap 'kill $hogs 2>/dev/null || :' EXIT
i=$(($(nproc) * 6))
while [ $i -gt 0 ]; do
	i=$((i - 1))
	sh -c 'while :; do :; done' &
	hogs="$hogs $!"
done
use='import os, sys, time
if sys.argv[2:]:
    os.fork()
while time.process_time() < float(sys.argv[1]):
    pass'
used() {
	"$WARDFS" audit show --json --kind session.end "$1" | sed -n 's/.*"cpu_ns":\([0-9]*\).*/\1/p'
}
# Much less than the limit, however long it takes.
expect 0 limits 'cpu-time = 3s' --session less -- python3 -c "$use" 1.2
[ "$(used less)" -lt 2700000000 ] || fail "less: $(used less)"
[ -z "$("$WARDFS" audit show --json --kind limit less)" ] || fail "told: $("$WARDFS" audit show --kind limit less)"
# All of it, by one and by two together.
for how in alone two; do
	two=${how#alone}
	expect 124 limits 'cpu-time = 2s' --session all-$how -- python3 -c "$use" 1000 ${two:+two}
	has "$ERR" "used its 2s of CPU time"
	[ "$(used all-$how)" -ge 2000000000 ] || fail "ended early: $(used all-$how)"
	told=$("$WARDFS" audit show --json --kind limit all-$how)
	has "$told" '"name":"cpu-time"'
	has "$told" '"done":"near"'
	has "$told" '"done":"ended"'
done
# The control: as much without the limit.
expect 0 "$WARDFS" run --session free -- python3 -c "$use" 2.2
[ "$(used free)" -ge 2200000000 ] || fail "control: $(used free)"
exit 0
