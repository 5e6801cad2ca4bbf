#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Root's limits of a session in control groups: enforced, named in the exit line and the trail,
# cleaned up.
# plain
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$WARD_TMP/state" XDG_RUNTIME_DIR="$WARD_TMP/run"
mkdir -p p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
cd p || exit 1

# None is left of those whose name begins so.
no_groups() {
	left=$(find /sys/fs/cgroup -type d -path '*/wardfs/*' -name "$1*" 2>/dev/null) || : # others' groups come and go under it
	[ -z "$left" ] || fail "left behind: $left"
}

expect 0 limits 'processes = 100' -- true
has "$(last session.start)" '"cgroups":["/sys/fs/cgroup'
case $(last session.start) in
*'"memory":{'*) fail "a limit that nobody asked for" ;;
esac
limits 'memory = 64M' -- true || skip "this host has no control group for memory: $(limits 'memory = 64M' -- true 2>&1)"

# The command is in each of the session's groups, in whatever way it comes into them: it cannot be
# told from inside (its own group looks like the top), so the host looks.
KNOCKOUT=$WARD_BUILD/tests/support/knockout
in_groups() {
	for g in $("$WARDFS" audit show --json | python3 -c 'import json, sys
for line in sys.stdin:
    r = json.loads(line)
    if r["kind"] == "session.start":
        print("\n".join(r["detail"]["sandbox"]["cgroups"]))'); do
		cat "$g/cgroup.procs" "$g/inside/cgroup.procs" 2>/dev/null | grep -qx "$1" || { echo "$1 is not in $g"; return 1; }
	done
}
for how in "" "$KNOCKOUT clone3=ENOSYS --"; do
	name=in-groups${how:+-moved}
	# shellcheck disable=SC2086
	$how "$WARDFS" run --session "$name" -- sleep "9$$7" &
	run=$!
	wait_until 60 pgrep -x -f "sleep 9$$7" || fail "it does not run"
	pid=$(pgrep -x -f "sleep 9$$7")
	said=$(in_groups "$pid") || said="$said, by: ${how:-itself}"
	in_groups 1 >/dev/null && said="control: the host's pid 1 is there, too"
	expect 0 "$WARDFS" kill "$name"
	expect 143 wait $run
	[ -z "$said" ] || fail "$said"
done

# No swap on top of the memory: the kernel's own files, from outside.
is_up() {
	[ -n "$(status_of "$1" init_pid)" ]
}
swap_of() { # swap_of LIMIT: what the memory group of a session with it says of swap
	rm -f go
	mkfifo go
	limits "$1" --session "swap-${1%% *}$$" -- sh -c 'read -r _' <go 2>err &
	run=$!
	exec 9>go
	wait_until 60 is_up "swap-${1%% *}$$" || fail "not started: $(cat err)"
	find /sys/fs/cgroup -type d -path "*/wardfs/swap-${1%% *}$$" | while read -r g; do
		if [ -e "$g/memory.swap.max" ]; then
			[ "$(cat "$g/memory.swap.max")" = 0 ] && echo none || echo some
		elif [ -e "$g/memory.memsw.limit_in_bytes" ]; then
			[ "$(cat "$g/memory.memsw.limit_in_bytes")" = "$(cat "$g/memory.limit_in_bytes")" ] &&
				[ "$(cat "$g/memory.limit_in_bytes")" = 67108864 ] && echo none || echo some
		elif [ -e "$g/memory.swappiness" ]; then
			[ "$(cat "$g/memory.swappiness")" = 0 ] && echo none || echo some
		fi
	done
	exec 9>&-
	expect 1 wait $run # its read(1) met the end
}
[ "$(swap_of 'memory = 64M')" = none ] || fail "a memory limit leaves swap"
[ "$(swap_of 'processes = 100')" != none ] || fail "control: without a memory limit there is swap"

# Memory: 200 MB fit without the limit; with it the kernel ends the program.
expect 0 limits 'processes = 100' -- python3 -c "$hog"
expect 137 limits 'memory = 64M' -- python3 -c "$hog"
has "$ERR" "the memory limit of 64M was met: the kernel ended the command"
has "$(last session.end)" '"ended_by":"limit","limit":"memory"'
has "$(last session.end)" '"oom_kills":1'
has "$(last limit)" "name memory  unit bytes  done ended"
# A child alone: the session goes on, and it is told all the same.
expect 0 limits 'memory = 64M' -- sh -c 'python3 -c "$1" || echo "child $?"' sh "$hog"
has "$OUT" "child 137"
has "$ERR" "the kernel ended 1 process"
has "$("$WARDFS" audit show | awk '$3 == "limit"')" "name memory  unit bytes  done killed"
# Files in /tmp are memory as well.
expect 137 limits 'memory = 64M' -- python3 -c 'open("/tmp/f", "wb").write(bytes(1 << 20) * 1)
f = open("/tmp/f", "ab")
while True:
    f.write(b"x" * (1 << 20))'
# Near a limit is told, far from it is not.
expect 0 limits 'memory = 200M' -- python3 -c 'x = bytearray(182 << 20)'
has "$("$WARDFS" audit show | awk '$3 == "limit"')" "name memory  unit bytes  done near"
expect 0 limits 'memory = 400M' -- python3 -c 'x = bytearray(54 << 20)'
[ -z "$("$WARDFS" audit show | awk '$3 == "limit"')" ] || fail "told: $("$WARDFS" audit show)"

# A fork bomb meets the limit and is told; its session ends with its command.
bomb='
import os, sys
n = 0
try:
    for i in range(200):
        if os.fork() == 0:
            os.read(0, 1)
            os._exit(0)
        n += 1
except OSError as e:
    print(n, e.strerror)
else:
    print("all", n)'
mkfifo hold
sleep 1000 >hold &
holder=$!
trap 'kill $holder 2>/dev/null || :' EXIT
expect 0 limits 'processes = 300' -- python3 -c "$bomb" <hold
has "$OUT" "all 200"
expect 0 limits 'processes = 50' -- python3 -c "$bomb" <hold
has "$OUT" "49 Resource temporarily unavailable"
has "$ERR" "the limit of 50 processes was met"
has "$("$WARDFS" audit show | awk '$3 == "limit"')" "name processes  unit processes  done refused"
has "$(last session.end)" '"processes_peak":51'
kill $holder
trap - EXIT

# CPU time is that of all processes together; its end is a clock's.
burn='import os
os.fork()
while True: pass'
expect 124 limits 'cpu-time = 1s' -- python3 -c "$burn"
has "$ERR" "used its 1s of CPU time"
has "$(last session.end)" '"ended_by":"limit","limit":"cpu-time"'
# Asleep it does not count.
expect 0 limits 'cpu-time = 1s' -- sleep 2

# A tenth of a CPU: the kernel has the limit, and makes the processes wait. The time that passes
# proves nothing on a busy machine. (A larger share may exceed the free CPU time, and then the limit
# never applies; so four processes want it.) Without the limit they use as much, and nothing waits.
throttled() {
	find /sys/fs/cgroup -path "*/wardfs/$1/cpu.stat" -exec awk '$1 == "nr_throttled" { print $2 }' {} + | sort -n | tail -n 1
}
waits() {
	[ "$(throttled "$1")" -gt 0 ]
}
used_some() {
	status_of "$1" use | grep -Eq "'cpu_ns': [0-9]{9}"
}
burns='for _ in 1 2 3; do while :; do :; done & done; while :; do :; done'
limits 'cpus = 0.1' --session part$$ -- sh -c "$burns" &
run=$!
wait_until 60 waits part$$ || fail "nothing waits: $(throttled part$$)"
quota=$(find /sys/fs/cgroup \( -path "*/wardfs/part$$/cpu.max" -o -path "*/wardfs/part$$/cpu.cfs_quota_us" \) -exec cat {} +) || :
[ "${quota%% *}" = 10000 ] || fail "quota: $quota"
wait_until 60 used_some part$$ || fail "a tenth is nothing: $(status_of part$$ use)"
expect 0 "$WARDFS" kill part$$
expect 143 wait $run
limits 'processes = 100' --session whole$$ -- sh -c "$burns" &
run=$!
wait_until 60 used_some whole$$ || fail "control: $(status_of whole$$ use)"
waits whole$$ 2>/dev/null && fail "control: without a limit it waits, too"
expect 0 "$WARDFS" kill whole$$
expect 143 wait $run

# The idle clock: silence ends the session; output, file access and none of both.
expect 124 limits 'idle = 1s' -- sleep 60
has "$ERR" "no output, input or file access for 1s"
has "$(last session.end)" '"limit":"idle"'
# silent: how long nothing came of the last session before its end: its output is a time each, its
# accesses are recorded
silent() {
	"$WARDFS" audit show --json | python3 "$WARD_SRC/tests/cases/sandbox/lib/limits-silent.py"
}
# stays BODY: it does so eight times, and all that takes longer than one may be silent. If it is
# ended all the same it was kept from running for so long; then once more with more time.
stays() {
	for idle in 6 30 120; do
		rc=0
		limits "idle = ${idle}s" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep "$0"; '"$1"'; done' $((idle / 6)) >out 2>err || rc=$?
		[ $rc = 124 ] && [ "$(silent)" -ge $idle ] || break
	done
	[ $rc = 0 ] || fail "idle = $idle, silent for $(silent): exit $rc: $(cat out err)"
}
stays 'read -r up _ </proc/uptime; echo "$up"'
[ "$(wc -l <out)" = 8 ] || fail "output lost: $(cat out)"
stays ': <limits.policy'
[ ! -s out ] || fail "control: output: $(cat out)"

# The grace between SIGTERM and SIGKILL is for whoever wants to clean up, and it ends.
# As long as it takes until it waits for it.
for wall in 5s 30s 2m; do
	expect 124 limits "wall = $wall\ngrace = 30s" -- sh -c 'trap "echo cleaned; exit 3" TERM; echo ready; sleep 600 & wait'
	case $OUT in *ready*) break ;; esac
done
has "$OUT" "cleaned"
expect 124 limits 'wall = 1s\ngrace = 1s' -- sh -c 'trap "" TERM; while :; do sleep 0.1; done'
has "$ERR" "wall clock"
has "$("$WARDFS" audit show | awk '$3 == "limit"')" "name wall  unit ns  done near"
# Whichever of the kernel's clocks is ahead of the other, as after a suspension or in a time
# namespace.
for clocks in "--boottime 1000000 --monotonic 5" "--boottime 5 --monotonic 1000000"; do
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 1s\ngrace = 1s\n' >../clocks.policy
	# shellcheck disable=SC2086
	expect 124 unshare --time --fork $clocks "$WARDFS" run --policy ../clocks.policy -- sleep 600
	has "$ERR" "the wall clock of 1s ended the session"
done

# wardfs ps tells present use. Control groups are the host's: what others run there has other names.
shown=shown$$
"$WARDFS" run --session $shown -- sh -c 'touch up; sleep 1000' &
sup=$!
wait_until 60 test -e up || fail "not started"
# Pid 1, the shell, and sleep as soon as it is there.
use() {
	"$WARDFS" ps --json | python3 -c 'import json, sys
for s in json.load(sys.stdin):
    if s["session"] == sys.argv[1]: print(s["use"]["memory"] > 0, s["use"]["processes"])' $shown
}
three() {
	[ "$(use)" = "True 3" ]
}
wait_until 60 three || fail "wardfs ps: $(use)"
# A supervisor that is killed can remove nothing: the next start does, whoever starts it. A process
# in them keeps them until they were looked at.
groups() {
	find /sys/fs/cgroup -type d -path "*/wardfs/$shown" || :
}
left() {
	[ -n "$(groups)" ]
}
sleep 1000 &
keeps=$!
groups >groups
while read -r group; do
	# v2: a group that gives controllers on has no process itself.
	! grep -q . "$group/cgroup.subtree_control" 2>/dev/null || group=$group/guard
	echo $keeps >"$group/cgroup.procs" || fail "$group takes no process"
done <groups
kill -9 $sup
expect 137 wait $sup
left || fail "control: the groups of a killed session are left"
kill $keeps
expect 143 wait $keeps
swept() {
	"$WARDFS" run -- true && ! left
}
wait_until 60 swept || fail "the groups of a killed session stay: $(groups)"
# One that runs keeps its own.
rm up
alive=alive$$
"$WARDFS" run --session $alive -- sh -c 'touch up; sleep 1000' &
sup=$!
wait_until 60 test -e up || fail "not started"
"$WARDFS" run -- true
[ -n "$(find /sys/fs/cgroup -type d -path "*/wardfs/$alive")" ] || fail "a running session lost its groups"
"$WARDFS" kill $alive
expect 143 wait $sup
no_groups $alive

# None after many, whichever way they ended.
i=0
n=20
[ -z "${WARD_LONG-}" ] || n=100
while [ $i -lt $n ]; do
	i=$((i + 1))
	"$WARDFS" run --session "limits-many$$-$i" -- sh -c 'setsid sleep 1000 & exit 0' || fail "run $i"
done
no_groups limits-many$$-
exit 0
