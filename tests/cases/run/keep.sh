#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --keep: a session outlives its first command. Programs that still run in it, and how it ends.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
trap '"$WARDFS" kill kept 2>/dev/null || :; "$WARDFS" kill bad 2>/dev/null || :; "$WARDFS" kill pipe 2>/dev/null || :; "$WARDFS" kill log 2>/dev/null || :' EXIT
mark=9$$9

# The status is the first command's, and our input and output are free again.
got=0
OUT=$("$WARDFS" run --keep --session kept -- sh -c "sleep $mark >/dev/null 2>&1 & echo first; exit 6" 2>../err) || got=$?
[ $got = 6 ] || fail "exit $got: $(cat ../err)"
[ "$OUT" = first ] || fail "$OUT"
has "$(cat ../err)" "wardfs exec kept"
expect 0 "$WARDFS" ps
has "$OUT" kept
# Programs that the command started live on, and others may join them.
expect 0 "$WARDFS" exec kept -- pgrep -f "sleep $mark"
expect 0 "$WARDFS" exec kept -- sh -c 'echo second >left'
[ "$(cat left)" = second ] || fail "no file was left"
# Nobody of it is in our session any more.
pid=$("$WARDFS" ps --json | sed -n 's/.*"pid": \([0-9]*\).*/\1/p' | head -n 1)
[ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ] || fail "the supervisor stayed in our session"
[ "$(readlink "/proc/$pid/fd/1")" = /dev/null ] || fail "the supervisor keeps our output"
# Nobody else holds it either: a pipe ends with the first command, and so does one for messages.
# The time only ends a wait that would never end.
expect 0 timeout 60 sh -c '"$WARDFS" run --keep --session pipe -- echo through 2>&1 | cat'
has "$OUT" through
expect 0 "$WARDFS" exec pipe -- true
expect 0 "$WARDFS" kill pipe
expect 0 timeout 60 sh -c '"$WARDFS" run --keep --session log --net web.example -- true 2>&1 >/dev/null | cat'
has "$OUT" "wardfs exec log"
expect 0 "$WARDFS" exec log -- true
expect 0 "$WARDFS" kill log
# Idle processors were kept awake for the start, and for that alone; the control is that they were.
hasnt "$(ls -l "/proc/$pid/fd")" cpu_dma_latency
if [ -w /dev/cpu_dma_latency ] && strace -o /dev/null true 2>/dev/null; then
	strace -o ../started -e trace=openat "$WARDFS" run -- true || fail "traced"
	grep -q '/dev/cpu_dma_latency.* = [0-9]' ../started || fail "control: the start lets processors sleep"
fi
wait_until 60 running "$mark" || fail "control: nothing to end"
expect 0 "$WARDFS" kill kept
wait_until 60 ended "$mark" || fail "it outlived its session"
wait_until 60 sh -c '! "$WARDFS" ps 2>&1 | grep -q kept' || fail "the session goes on"
wait_until 60 "$WARDFS" audit verify kept || fail "$("$WARDFS" audit verify kept)"
expect 0 "$WARDFS" audit show --json --kind session.end kept
has "$OUT" '"status":6'
has "$OUT" "ended by wardfs kill"
# Without it the session ends with its command: the control.
expect 6 "$WARDFS" run --session plain -- sh -c "sleep $mark >/dev/null 2>&1 & exit 6"
wait_until 60 ended "$mark" || fail "it outlived its session"
expect 2 "$WARDFS" exec plain -- true
# A session that cannot start does not go on. A wall clock ends one that does.
expect 127 "$WARDFS" run --keep --session bad -- no-such-program
expect 2 "$WARDFS" exec bad -- true
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 10s\n' >../wall.policy
expect 0 "$WARDFS" run --keep --session short --policy ../wall.policy -- true
wait_until 60 sh -c '! "$WARDFS" ps 2>&1 | grep -q short' || fail "its wall clock did not end it"
exit 0
