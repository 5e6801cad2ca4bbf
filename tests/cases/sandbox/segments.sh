#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Memory without an owner process: System V segments, POSIX shared memory, files in /tmp and
# memfds count towards the session's memory even after their makers ended, and go with the
# session.
# plain
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$WARD_TMP/state" XDG_RUNTIME_DIR="$WARD_TMP/run"
mkdir -p p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
cd p || exit 1
limits 'memory = 64M' -- true || skip "no control group for memory"
# Ten processes one after the other, each of which fills 16 MB and ends: 160 in all.
cp "$WARD_SRC/tests/cases/sandbox/lib/segments-keep.py" keep.py
peak() {
	"$WARDFS" audit show --json --kind session.end "$1" | sed -n 's/.*"memory_peak":\([0-9]*\).*/\1/p'
}
key=$((0x5b000000 + $$ * 16))
free=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
[ "$free" -gt 1000 ] || skip "less than 1 GB of memory are free"
for how in segment shared tmp memfd; do
	expect 0 limits 'memory = 400M' --session wide-$how-$$ -- python3 keep.py $how $key
	[ "$OUT" = all ] || fail "control: $how: $OUT"
	[ "$(peak wide-$how-$$)" -ge $((160 << 20)) ] || fail "$how is not counted: $(peak wide-$how-$$)"
	# The kernel may end the command itself, too: what it kept is nobody's whose end gives it
	# back.
	rc=0
	limits 'memory = 64M' --session tight-$how-$$ -- python3 keep.py $how $key >out 2>err || rc=$?
	case $rc in
	0) [ "$(cat out)" = lost ] || fail "$how: it all fits: $(cat out)" ;;
	137) ;;
	*) fail "$how: $rc: $(cat err)" ;;
	esac
	has "$("$WARDFS" audit show --json --kind limit tight-$how-$$)" '"done":"killed"'
	[ "$(peak tight-$how-$$)" -le $((68 << 20)) ] || fail "$how: $(peak tight-$how-$$)"
	[ -z "$(find /sys/fs/cgroup -type d -path "*/wardfs/*-$how-$$")" ] || fail "$how: a group is left"
done
# None of the host's, and none is left: the keys are known.
[ -z "$(awk -v k=$key '$1 >= k && $1 < k + 16' /proc/sysvipc/shm)" ] || fail "a segment outlives its session"
expect 0 python3 -c '
import ctypes, sys
libc = ctypes.CDLL(None)
shm = libc.shmget(int(sys.argv[1]), 4096, 0o1600)
print(any(line.split()[0] == sys.argv[1] for line in open("/proc/sysvipc/shm")))
libc.shmctl(shm, 0, None)' $key
[ "$OUT" = True ] || fail "control: a segment of the host is not seen: $OUT"
exit 0
