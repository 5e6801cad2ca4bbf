#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same as an ordinary user without fusermount3: run, refusals, trail, git, killed helpers.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
cat >inner.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
[ "$(id -u)" = 4711 ] || fail "not the ordinary user"
project p
cd p || exit 1
echo token=1 >.env
echo text >file
expect 0 "$WARDFS" run -- sh -c 'id -u; cat file; echo more >>file; mkdir d && mv file d/f'
has "$OUT" 4711
[ "$(cat d/f)" = "text
more" ] || fail "not written"
# The very first access of a session may be a create in the root of the tree.
expect 0 "$WARDFS" run -- touch first
expect 1 "$WARDFS" run -- cat .env
has "$ERR" ".env"
expect 0 cat .env
expect 0 "$WARDFS" run -- sh -c 'git add d && git commit -qm one && git status --short'
expect 0 "$WARDFS" audit verify
expect 0 "$WARDFS" doctor
mark=9$$7
"$WARDFS" run --session victim -- sh -c "setsid sleep $mark & touch here; sleep $mark" 2>err &
sup=$!
wait_until 60 test -e here || fail "not started: $(cat err)"
wait_until 60 running "$mark" || fail "control: the agent does not run"
kill -9 "$sup"
wait_until 60 ended "$mark" || fail "agent processes are left"
expect 125 "$WARDFS" run --user root -- true
exit 0
S
as_user "$WARD_TMP/inner.sh"
