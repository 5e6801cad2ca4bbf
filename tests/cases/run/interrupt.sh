#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs passes SIGINT on. A command that ignores it continues until somebody sends it again
# within a few seconds.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p

# begin NAME COMMAND: a run, with SIGINT as a terminal's shell gives it, once the command is ready
begin() {
	env --default-signal=INT "$WARDFS" run --session "$1" -- sh -c "$2" >"../$1.out" 2>"../$1.err" &
	run=$!
	trap 'kill "$run" 2>/dev/null || :' EXIT
	wait_until 60 grep -q ready "../$1.out" || fail "$1 does not start: $(cat "../$1.err")"
}
again() {
	kill -INT "$run" 2>/dev/null || return 0
	sleep 0.5
	! kill -0 "$run" 2>/dev/null
}
ticks() { # ticks N: the command has gone round so often
	[ "$(grep -c tick ../ignores.out)" -ge "$1" ]
}

echo "--- a command that ends at it ends, with its own status"
begin ends 'trap "echo heard; exit 7" INT; echo ready; while :; do sleep 0.1; done'
kill -INT "$run"
expect 7 wait "$run"
grep -q heard ../ends.out || fail "it heard nothing"

echo "--- one that ignores it goes on: the control"
begin ignores 'trap "" INT; echo ready; while ! [ -e go ]; do echo tick; sleep 0.1; done; echo went on'
kill -INT "$run"
wait_until 60 ticks $(($(grep -c tick ../ignores.out) + 10)) || fail "one interrupt ended it: $(cat ../ignores.err)"
touch go
expect 0 wait "$run"
grep -q 'went on' ../ignores.out || fail "one interrupt ended it: $(cat ../ignores.err)"

echo "--- two at once are one"
rm go
begin twice 'trap "echo heard" INT; echo ready; while ! [ -e go ]; do sleep 0.1; done; echo went on'
kill -INT "$run"
kill -INT "$run"
wait_until 60 grep -q heard ../twice.out || fail "it heard nothing"
touch go
expect 0 wait "$run"

echo "--- interrupted again it ends, and nothing of it is left"
begin deaf 'trap "" INT TERM; echo ready; while :; do sleep 0.1; done'
wait_until 60 again || fail "it outlives interrupts: $(cat ../deaf.err)"
expect 130 wait "$run"
expect 0 "$WARDFS" audit show deaf
has "$OUT" "it was interrupted twice"
expect 0 "$WARDFS" ps
hasnt "$OUT" deaf
