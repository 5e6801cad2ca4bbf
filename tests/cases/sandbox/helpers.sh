#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What helpers spend for a session is the session's: they run in its control groups when it limits
# memory or CPU time, and their CPU time counts.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$WARD_TMP/state" XDG_RUNTIME_DIR="$WARD_TMP/run"
mkdir -p p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
cd p || exit 1
limits 'cpu-time = 100s\nmemory = 1G' -- true ||
	skip "this host has no control groups: $(limits 'memory = 1G' -- true 2>&1)"
cp "$WARD_SRC/tests/cases/sandbox/lib/helpers-spend.py" spend.py

# below PID...: these and all that they started
below() {
	for one; do
		echo "$one"
		# shellcheck disable=SC2046 # numbers
		below $(cat "/proc/$one/task/$one/children" 2>/dev/null)
	done
}

# place PID: "guard", "inside" or "elsewhere", of each process that serves the session, and of the
# command
places() {
	for pid in $(below "$1"); do
		comm=$(cat "/proc/$pid/comm" 2>/dev/null) || continue
		where=elsewhere
		! grep -q '/wardfs/.*/guard$' "/proc/$pid/cgroup" || where=guard
		! grep -q '/wardfs/.*/inside$' "/proc/$pid/cgroup" || where=inside
		echo "$comm $where"
	done
}

# look NAME LINES: what runs in a session with these limits, and where
look() {
	rm -f go
	mkfifo go
	printf '[policy]\nversion = 1\nextends = medium\n[network]\nmode = allowlist\nallow = h.example:443\n[limits]\n%b' \
		"$2" >look.policy
	"$WARDFS" run --policy look.policy --session "$1" -- sh -c 'read -r _ || :' <go 2>err &
	run=$!
	exec 9>go
	i=0
	until [ -n "$(status_of "$1" init_pid)" ]; do
		i=$((i + 1))
		{ [ $i -lt 600 ] && kill -0 $run; } || fail "it does not run: $(cat err)"
		sleep 0.1
	done
	found=$(places $run)
	exec 9>&-
}

look without 'memory = none\n'
wait $run || fail "without: $(cat err)"
has "$found" "wardfs-net elsewhere"
hasnt "$found" guard
for lines in 'memory = 1G\n' 'cpus = 4\n' 'cpu-time = 1h\n'; do
	look "with-${lines%% *}" "$lines"
	wait $run || fail "with $lines: $(cat err)"
	for helper in wardfs-fs wardfs-audit wardfs-net; do
		has "$found" "$helper guard"
		hasnt "$found" "$helper elsewhere"
	done
	has "$found" "sh inside"
	left=$(find /sys/fs/cgroup -type d -path '*/wardfs/with*' 2>/dev/null) || :
	[ -z "$left" ] || fail "left behind: $left"
done

# Killed with them in the groups: the next start removes what is left.
look dead 'memory = 1G\n'
kill -9 $run
wait $run || :
swept() {
	limits 'memory = 1G' -- true
	[ -z "$(find /sys/fs/cgroup -type d -path '*/wardfs/dead*' 2>/dev/null)" ]
}
wait_until 60 swept || fail "not swept: $(find /sys/fs/cgroup -type d -path '*/wardfs/dead*')"

# Whom the kernel takes first when memory runs out.
[ "$(cat /proc/self/oom_score_adj)" -ge 500 ] || [ "$(limits 'memory = 1G' -- cat /proc/self/oom_score_adj)" = 500 ] ||
	fail "helpers can go before the command"

# The command uses less than its time; with what the guard used for it the time is over. The
# control: with more time it comes to its end.
expect 0 limits 'cpu-time = 100s' -- python3 spend.py end
expect 124 limits 'cpu-time = 1s' -- python3 spend.py wait
has "$ERR" "used its 1s of CPU time"
has "$OUT" "spent"
