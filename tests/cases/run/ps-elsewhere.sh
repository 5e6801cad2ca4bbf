#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs ps` does not say that no session runs while one refuses to answer: it was started in
# another pid namespace, and cannot tell who asks. The control: one in this pid namespace.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: a pid namespace"
project p
cd p || exit 1
# started NAME [CMD...]: the session runs, started by CMD.
started() {
	name=$1
	shift
	rm -f at
	"$@" "$WARDFS" run --session "$name" -- sh -c 'touch at; while [ ! -e go ]; do sleep 0.1; done' &
	wait_until 60 test -e at || fail "$name: not started"
}
trap 'touch go; wait' EXIT
started here
expect 0 "$WARDFS" ps
has "$OUT" here
started elsewhere unshare --pid --fork --mount-proc --kill-child
expect 1 "$WARDFS" ps
has "$OUT" here
has "$ERR" "session elsewhere refused to answer"
expect 1 "$WARDFS" ps elsewhere
hasnt "$ERR" "no session"
touch go
wait
expect 0 "$WARDFS" ps
has "$ERR" "no session is running"
