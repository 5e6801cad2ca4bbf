#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A tree may replace /tmp. The supervisor measures the remaining tmpfs and never asks the file
# system that it serves: it answers while wardfs-fs does not.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >tree.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
mkdir t
cd p || exit 1
# An eighth of 8 processes is not calm: figures are taken every second.
cat >tree.policy <<'P'
[policy]
version = 1
extends = medium
[tree /tmp]
source = ../t
at = none
[files]
write = /tmp
[limits]
processes = 8
tmp = 8M
P
told() {
	case $("$WARDFS" audit show --json --kind limit "$1") in
	*'"name":"tmp"'*) return 0 ;;
	esac
	return 1
}
"$WARDFS" run --session tree --policy tree.policy -- python3 -c "$(cat "$WARD_SRC/tests/cases/sandbox/lib/tmp-tree-hold.py")" &
pid=$!
wait_until 60 test -e up || fail "not started"
[ "$(cat ../t/mine)" = x ] || fail "/tmp is no tree"
# The control: the figures are taken, of the tmpfs that is still there.
wait_until 60 told tree || fail "$("$WARDFS" audit show --json --kind limit tree)"
fs=$(status_of tree fs_pid)
kill -STOP "$fs"
# Several looks, each of which would wait for ever.
for _ in 1 2 3; do
	sleep 1
	timeout 120 "$WARDFS" ps --json >ps.json || { kill -CONT "$fs"; fail "no answer"; }
	[ "$(status_of tree fs_pid)" = "$fs" ] || { kill -CONT "$fs"; fail "$(cat ps.json)"; }
done
kill -CONT "$fs"
rm -f up
wait $pid || fail "the session ended with $?"
S
cp tree.body tree.sh
chmod 755 "$WARD_TMP"
sh ./tree.sh &
root=$!
user=0
as_user "$WARD_TMP/tree.sh" || user=$?
wait $root || fail "as root"
[ $user = 0 ] || fail "as an ordinary user"
