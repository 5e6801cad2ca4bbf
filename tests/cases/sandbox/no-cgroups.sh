#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Without control groups, a limit that needs them refuses the run by name, unless the policy or
# the caller accepts less. Then wardfs says and records it. Everything else works.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
mkdir -p p
cd p || exit 1
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\n%s\n' "$1" >../limits.policy
}
# How they can be missing: nothing mounted; mounted, and not ours to write; a call that makes them
# fails.
without_any() {
	unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$@"' sh "$@"
}
readonly_() {
	unshare --mount --propagation private sh -c '
		for m in $(sed -n "s/^[^ ]* \(\/sys\/fs\/cgroup[^ ]*\) .*/\1/p" /proc/mounts | sort -r); do
			mount -o remount,bind,ro "$m" || exit 99
		done
		exec "$@"' sh "$@"
}
with() {
	"$@"
}
policy 'memory = 100M'
with "$WARDFS" run --policy ../limits.policy -- true || skip "control: this host has no control group for memory"
expect 0 "$WARDFS" audit guarantees
for how in without_any readonly_; do
	# Asked for and not to be had: nothing starts, the limit is named, so is the way around it.
	policy 'memory = 100M'
	expect 0 with "$WARDFS" run --policy ../limits.policy -- sh -c 'touch made'
	rm made
	expect 125 $how "$WARDFS" run --policy ../limits.policy -- sh -c 'touch made'
	has "$ERR" "cannot enforce [limits] memory = 100M here"
	has "$ERR" "--allow-missing limit-memory"
	has "$ERR" "fix: "
	[ ! -e made ] || fail "$how: it ran"
	for key in 'cpus = 1.5' 'cpu-time = 10s'; do
		policy "$key"
		expect 125 $how "$WARDFS" run --policy ../limits.policy -- true
		has "$ERR" "cannot enforce [limits] $key here"
		expect 0 with "$WARDFS" run --policy ../limits.policy -- true
	done
	# One name at a time, told, and in the trail.
	policy 'memory = 100M'
	expect 0 $how "$WARDFS" run --policy ../limits.policy --allow-missing limit-memory --session "$how-allowed" -- true
	has "$ERR" "limit 'memory' is not enforced for the session"
	expect 0 "$WARDFS" audit show --json --kind session.start "$how-allowed"
	has "$OUT" '"missing":{"limit-memory":{'
	# Over sessions: where it was missing and why, and that it held in the others. Control:
	# before this one.
	expect 1 "$WARDFS" audit guarantees
	echo "$OUT" | grep -q "^    $how-allowed  20.*(--allow-missing)$" || fail "$how: guarantees: $OUT"
	expect 1 "$WARDFS" audit guarantees --json
	echo "$OUT" | python3 "$WARD_SRC/tests/cases/sandbox/lib/no-cgroups-guarantees.py" "$how-allowed" ||
		fail "$how: guarantees --json: $OUT"
	expect 0 "$WARDFS" audit guarantees --since 2999
	has "$OUT" '0 sessions'
	policy 'memory = 100M
cpus = 1.5'
	expect 125 $how "$WARDFS" run --policy ../limits.policy --allow-missing limit-memory -- true
	has "$ERR" "[limits] cpus"

	# where-available: less than asked for, by the name of what is there instead, which does
	# hold.
	policy 'require = where-available
memory = 100M
cpu-time = 1s'
	expect 0 $how "$WARDFS" run --policy ../limits.policy --session "$how-less" -- true
	has "$ERR" "limit 'memory' is not enforced for the session: data of each process by itself"
	has "$ERR" "limit 'cpu-time' is not enforced for the session: time of each process by itself"
	expect 0 "$WARDFS" audit show --json --kind session.start "$how-less"
	has "$OUT" '"memory":{"value":104857600,"by":"rlimit"}'
	has "$OUT" '"cgroups":[]'
	expect 0 "$WARDFS" audit show --json --kind session.end "$how-less"
	has "$OUT" '"memory_peak":null'
	has "$OUT" '"unknown":{'
	expect 1 $how "$WARDFS" run --policy ../limits.policy -- python3 -c 'x = bytearray(200 << 20)'
	has "$ERR" MemoryError
	policy 'require = where-available
memory = 400M'
	expect 0 $how "$WARDFS" run --policy ../limits.policy -- python3 -c 'x = bytearray(200 << 20)'
	# Whole: nobody is warned.
	expect 0 with "$WARDFS" run --policy ../limits.policy -- true
	hasnt "$ERR" "is not enforced"

	# Limits that need none of them work as always: the user namespace counts processes.
	policy 'processes = 20'
	expect 0 $how "$WARDFS" run --policy ../limits.policy -- python3 -c "$(cat "$WARD_SRC/tests/cases/sandbox/lib/no-cgroups-forks.py")"
	has "$OUT" "19 Resource temporarily unavailable"
done
