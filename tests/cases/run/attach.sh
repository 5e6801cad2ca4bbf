#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attach: several people at one session's terminal, leaving and coming back.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
mark=9$$6
trap '"$WARDFS" kill kept 2>/dev/null || :; "$WARDFS" kill both 2>/dev/null || :; "$WARDFS" kill dumb 2>/dev/null || :; wait' EXIT
python3 "$WARD_SRC/tests/cases/run/lib/attach.py" || exit 1

# The trail records who came and went.
expect 0 "$WARDFS" audit show --json --kind exec both
has "$OUT" "wardfs attach, number 1: joined"
has "$OUT" "wardfs attach, number 1: left"
has "$OUT" "wardfs attach, number 2, to watch: joined"

# Neither here nor there a terminal.
"$WARDFS" run --session dumb -- sh -c "touch up; exec sleep $mark" </dev/null >/dev/null 2>&1 &
wait_until 60 test -e up || fail "not started"
expect 2 "$WARDFS" attach dumb
has "$ERR" "needs a terminal"
expect 125 script -qec "$WARDFS attach dumb" /dev/null
has "$OUT" "wardfs exec"
# From inside nobody attaches: no path leads to the socket, and another pid namespace is refused.
expect 0 "$WARDFS" run -- sh -c 'ls /run/wardfs "$XDG_RUNTIME_DIR" 2>/dev/null; true'
hasnt "$OUT" dumb
expect 125 unshare --pid --fork script -qec "$WARDFS attach dumb" /dev/null
has "$OUT" "refused"
expect 0 "$WARDFS" kill dumb
