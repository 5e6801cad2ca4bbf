#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Limits of a shipped profile are shares of the host. wardfs enforces them where it can and says
# where it cannot. Any other policy's limit refuses the start there. Percentages relate to the
# control group around wardfs.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$WARD_TMP/state" XDG_RUNTIME_DIR="$WARD_TMP/run"
mkdir -p p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
cd p || exit 1
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\n%s\n' "$1" >../limits.policy
}
without_any() {
	unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$@"' sh "$@"
}
start() { # start NAME: of its session.start
	"$WARDFS" audit show --json --kind session.start "$1"
}
policy 'memory = 90%'
"$WARDFS" run --policy ../limits.policy -- true || skip "control: this host has no control group for memory"

# Held: nothing is said, the trail has the share and what it comes to, and --dry-run too.
expect 0 "$WARDFS" run --session held -- true
[ -z "$ERR" ] || fail "said: $ERR"
total=$("$WARDFS" policy show | sed -n 's/^memory = 75%   ; \([0-9]*\)M of .*M here$/\1/p')
[ "$total" -gt 0 ] || fail "not shown: $("$WARDFS" policy show)"
expect 0 start held
has "$OUT" '"memory":{"value":'"$((total << 20))"',"by":"cgroup v'
has "$OUT" '"said":"75%","default":true}'
has "$OUT" '"missing":{}'
expect 0 "$WARDFS" run --dry-run -- true
has "$OUT" "  of the profile: memory = 75%, here ${total}M, "
has "$OUT" ", wall = 12h, "
[ "$(printf '%s\n' "$OUT" | wc -l)" -le 32 ] || fail "a long rehearsal: $OUT"
expect 0 "$WARDFS" run -v --dry-run -- true
has "$OUT" "  memory = 75%, here ${total}M (enforced by: cgroup v"
# As a policy has them, also those of single commands; programs read the bytes and nanoseconds.
has "$OUT" "  tmp = 2G (enforced by: tmpfs; a default of the profile)"
has "$OUT" "  wall = 12h (enforced by: clock; a default of the profile)"
has "$OUT" "  core = no (enforced by: rlimit)"
has "$OUT" "quotas
  /agent-home: growth = 10G
  /workspace: growth = 20G, files = 2M, churn = 500k/h
"
hasnt "$OUT" "  command ="
policy 'command = 90s
wall = none'
expect 0 "$WARDFS" run --policy ../limits.policy --dry-run -- true
has "$OUT" "  command = 90s (enforced by: clock)"
hasnt "$OUT" "  wall ="
expect 0 "$WARDFS" run --policy ../limits.policy --dry-run --json -- true
has "$(printf %s "$OUT" | tr -d ' \n')" '"command":{"value":90000000000,"by":"clock","text":"90s"}'
has "$(printf %s "$OUT" | tr -d ' \n')" '"tmp":{"value":2147483648,"by":"tmpfs","default":true,"text":"2G"}'

# The agents' profiles, too: what a session that lies open for days may use in all.
for profile in agent claude convention; do
	expect 0 "$WARDFS" run -v -p $profile --dry-run -- true
	has "$OUT" "  cpu-time = 2d/cpu, here "
	has "$OUT" "d (enforced by: cgroup v"
	has "$OUT" "  wall = 30d (enforced by: clock; a default of the profile)"
	has "$OUT" "  idle = 7d (enforced by: clock; a default of the profile)"
done
# For each processor: what computes on all of them ends, and what uses little does not.
policy 'cpu-time = 1s/cpu'
expect 124 "$WARDFS" run --session ran-away --policy ../limits.policy -- python3 -c 'import os
os.fork()
while True: pass'
has "$ERR" "of CPU time and was ended"
expect 0 start ran-away
has "$OUT" '"said":"1s/cpu"}'
policy 'cpu-time = 1h/cpu'
expect 0 "$WARDFS" run --policy ../limits.policy -- python3 -c 'sum(range(100000))'

# Not to be had: a default is said, in the line at the start, by ps and in the trail.
mkfifo go
without_any "$WARDFS" run --session unheld -- sh -c 'echo ran; read -r _ || :' <go >out 2>err &
run=$!
exec 9>go
wait_until 60 grep -q ran out || fail "it does not run: $(cat err)"
expect 0 "$WARDFS" ps unheld
has "$OUT" "limits that are not enforced: memory"
exec 9>&-
wait $run || fail "exit $?: $(cat err)"
[ "$(grep -c 'cannot enforce these limits of the profile: memory = 75%' err)" = 1 ] || fail "not one line: $(cat err)"
# Nobody chose it, and it is the same each time: said once for each state directory, and to -v. A
# limit that was asked for is named each time.
expect 0 without_any "$WARDFS" run --session unheld-again -- true
[ -z "$ERR" ] || fail "said again: $ERR"
expect 0 start unheld-again
has "$OUT" '"limit-memory":{"why":"'
expect 0 without_any "$WARDFS" run -p low -- true
has "$ERR" 'cannot enforce these limits of the profile: memory = 512M'
for _ in 1 2; do
	expect 0 without_any "$WARDFS" run -- true
	[ -z "$ERR" ] || fail "said again: $ERR"
done
expect 0 without_any "$WARDFS" run -v -- true
has "$ERR" 'cannot enforce these limits of the profile: memory = 75%'
policy 'memory = 100M
require = where-available'
for _ in 1 2; do
	expect 0 without_any "$WARDFS" run --policy ../limits.policy -- true
	has "$ERR" "limit 'memory' is not enforced for the session"
done
expect 0 start unheld
has "$OUT" '"limit-memory":{"why":"'
has "$OUT" '"because":"a default of the profile"}'
expect 0 without_any "$WARDFS" run --dry-run -- true
has "$OUT" "a default of the profile"

# The same value by anybody else refuses: the owner's file, the command line's policy, floor,
# project file.
policy 'memory = 75%'
expect 125 without_any "$WARDFS" run --policy ../limits.policy -- touch made
has "$ERR" "[limits] memory = 75%, here"
hasnt "$ERR" "M here"
has "$ERR" "cannot enforce [limits]"
printf '[policy]\nversion = 1\n[limits]\nmemory = 100%%\n' >.wardfs.policy
expect 125 without_any "$WARDFS" run -- touch made
has "$ERR" "cannot enforce [limits]"
expect 0 "$WARDFS" run -- true # control: with groups it is held
rm .wardfs.policy
# The floor allows more than the default: the default applies, and it is firm.
mkdir ../etc
with_floor() { # with_floor LINE COMMAND...
	printf '[policy]\nversion = 1\n[limits]\n%s\n' "$1" >../etc/floor.policy
	shift
	unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/wardfs &&
		mount --bind ../etc /mnt/wardfs && mount -t overlay -o lowerdir=/mnt:/etc overlay /etc &&
		mount --bind ../etc /etc/wardfs && exec "$@"' sh "$@"
}
expect 125 with_floor 'memory = 80%' unshare --mount sh -c 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$@"' sh \
	"$WARDFS" run -- touch made
has "$ERR" "[limits] memory = 75%, here"
expect 0 with_floor 'memory = 10%' "$WARDFS" run --session floored -- true
expect 0 start floored
has "$OUT" '"said":"10%"}'
[ ! -e made ] || fail "it ran"

# `none` takes a default back, and then nobody misses it.
policy 'memory = none
idle = none'
expect 0 without_any "$WARDFS" run --policy ../limits.policy -- true
hasnt "$ERR" "not enforced"

# A share is one of the group around wardfs, and a reload goes by the same figures.
mount=$(sed -n 's/^[^ ]* \(\/sys\/fs\/cgroup[^ ]*\) cgroup .*[ ,]memory[ ,].*/\1/p' /proc/mounts | head -n 1)
file=memory.limit_in_bytes
if [ -z "$mount" ]; then
	mount=/sys/fs/cgroup file=memory.max
fi
group=$mount/around$$
mkdir "$group"
echo 1073741824 >"$group/$file"
trap 'rmdir "$group" 2>/dev/null || :' EXIT
inside() {
	sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}
expect 0 inside "$WARDFS" policy show
has "$OUT" "memory = 75%   ; 768M of 1024M here"
policy 'memory = 50%'
mkfifo again
inside "$WARDFS" run --policy ../limits.policy --session shared -- sh -c 'echo ran; read -r _ || :' <again >out 2>err &
run=$!
exec 9>again
wait_until 60 grep -q ran out || fail "it does not run: $(cat err)"
echo 'write = /workspace/new' | cat ../limits.policy - | sed 's/^write/[files]\n&/' >../more.policy
expect 0 "$WARDFS" policy reload shared ../more.policy
policy 'memory = 60%'
expect 2 "$WARDFS" policy reload shared ../limits.policy
has "$ERR" "memory = 60% (in force: 50%)"
exec 9>&-
wait $run || fail "exit $?: $(cat err)"
expect 0 start shared
has "$OUT" '"memory":{"value":536870912,"by":"cgroup v'
has "$OUT" '"said":"50%"}'
