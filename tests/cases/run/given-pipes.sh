#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a command sets on a pipe that it got as 0, 1 or 2 (O_NONBLOCK, say) stays with the command.
# The caller's next program finds the pipe unchanged.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
cat >pipes.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir p && cd p && git init -q .
cat >set.py <<'P'
import fcntl, os
for fd in 0, 1, 2:
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
P
cat >ask.py <<'P'
import fcntl, os, sys
with open(sys.argv[1], "w") as f:
    f.write(" ".join(str(bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK)) for fd in (0, 1, 2)))
P
# after CMD...: what is set of the three pipes behind it
after() {
	rm -f answer failed
	: | { { { "$@" || : >failed; python3 ask.py answer; } 2>&1 >&3 | cat >../said; } 3>&1 | cat >../out; }
	[ ! -e failed ] || fail "$*: $(cat ../said)"
	cat answer
}
[ "$(after python3 set.py)" = "True True True" ] || fail "control: nothing is shared"
[ "$(after "$WARDFS" run --policy medium -- python3 set.py)" = "False False False" ] || fail "run: $(cat answer)"
"$WARDFS" run --policy medium --session s -- sh -c ': >begun; i=0
	until [ -e finish ] || [ $i = 600 ]; do sleep 0.1; i=$((i + 1)); done' &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
wait_until 60 test -e begun || fail "not started"
[ "$(after "$WARDFS" exec s -- python3 /workspace/set.py)" = "False False False" ] || fail "exec: $(cat answer)"
: >finish
wait $run
# The bytes go through, in both directions, also much; and what the caller set is there.
head -c 3000000 /dev/zero | "$WARDFS" run --policy medium -- sh -c 'cat; echo said >&2' 2>err | wc -c >out
[ "$(cat out)" = 3000000 ] || fail "through pipes: $(cat out)"
S
sh pipes.sh
mkdir -p home
cp pipes.sh home
as_user "$WARD_TMP/home/pipes.sh" || fail "as an ordinary user"
