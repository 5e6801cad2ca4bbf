#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A process of a session's is stopped, and somebody asks the session for something. Each answer
# comes in time, or the message names who does not answer. The controls are the same requests before
# and after.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
printf '[policy]\nversion = 1\nextends = medium\n' >same.policy
project p
cd p || exit 1
"$WARDFS" run --session silent -- sleep 600 2>../err &
run=$!
stopped=$run
trap 'kill -CONT $stopped 2>/dev/null || :; kill $run 2>/dev/null || :' EXIT
answers() {
	[ -n "$(status_of silent pid)" ]
}
wait_until 60 answers || fail "not started: $(cat ../err)"
fs=$(status_of silent fs_pid)
fine() {
	expect 0 "$WARDFS" exec silent -- echo fine
	[ "$OUT" = fine ] || fail "$OUT"
	expect 0 "$WARDFS" quota silent
	expect 0 "$WARDFS" grants silent
	expect 0 "$WARDFS" policy reload silent ../same.policy
}
fine

echo "--- the supervisor"
kill -STOP $run
expect 125 timeout -k 5 120 "$WARDFS" exec silent -- true
has "$ERR" "wardfs: session silent does not answer"
expect 1 timeout -k 5 120 "$WARDFS" kill silent
has "$ERR" "session silent does not answer"
# One that does not answer may run, so nothing says that none does. Control: a name of none.
said_alone() {
	# shellcheck disable=SC2086 # several words
	expect 1 timeout -k 5 120 "$WARDFS" $1
	[ "$ERR" = "wardfs: session silent does not answer" ] || fail "$1: $ERR"
}
said_alone quota
said_alone "quota silent"
# Nor do those that no longer have a place in its queue.
expect 0 python3 "$WARD_SRC/tests/cases/run/lib/silent-session-fill.py" \
	"$(find "$XDG_RUNTIME_DIR/wardfs/silent" -name control)"
for verb in grants ps "top --once"; do
	said_alone "$verb"
done
expect 1 timeout -k 5 120 "$WARDFS" quota other
has "$ERR" "no session 'other' is running"
hasnt "$ERR" silent
kill -CONT $run
fine

echo "--- wardfs-fs: its command waits, as the whole session does, and says for whom"
stopped=$fs
kill -STOP "$fs"
"$WARDFS" exec silent -- echo later >../later 2>../said &
exec=$!
said() {
	grep -q '^wardfs: session silent: wardfs-fs does not answer; waiting$' ../said
}
wait_until 120 said || fail "exec says: $(cat ../said)"
[ ! -s ../later ] || fail "the command went on: $(cat ../later)"
for verb in "quota silent" "grants silent" "grant silent --for 10m read /workspace/x"; do
	# shellcheck disable=SC2086 # several words
	refused "session silent: wardfs-fs does not answer" timeout -k 5 120 "$WARDFS" $verb
done
has "$OUT" "it may still do what was asked"
refused "whether wardfs-fs answers" timeout -k 5 120 "$WARDFS" policy reload silent ../same.policy
kill -CONT "$fs"
wait $exec || fail "exec: exit $?: $(cat ../said)"
[ "$(cat ../later)" = later ] || fail "the command did nothing: $(cat ../said)"
fine

echo "--- wardfs-init, which starts commands"
stopped=$(status_of silent init_pid)
kill -STOP "$stopped"
"$WARDFS" exec silent -- echo later >../later 2>../said &
exec=$!
said() {
	grep -q '^wardfs: session silent: it has not begun: .*wardfs-init is stopped or frozen; waiting$' ../said
}
wait_until 120 said || fail "exec says: $(cat ../said)"
kill -CONT "$stopped"
wait $exec || fail "exec: exit $?: $(cat ../said)"
[ "$(cat ../later)" = later ] || fail "the command did nothing: $(cat ../said)"
fine
expect 0 "$WARDFS" kill silent
wait $run || :
trap - EXIT
