#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guard of a session dies while it holds the lock that the owner's sessions share when they
# rename. Another session of the owner renames at once, although the supervisor of the first one is
# stopped and cannot end that session. The control: while the guard is stopped with the lock, the
# other session's rename is refused.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/run/lib/workspace.sh"
secret_project
cp "$WARD_SRC/tests/cases/run/lib/moves-killed-moves.py" p/moves.py
cp "$WARD_SRC/tests/cases/run/lib/moves-killed-once.py" p/once.py
mkdir -p p/d0 p/x
(cd p/d0 && seq 3000 | xargs touch)
[ "$(id -u)" -ne 0 ] || chown -R 54321:54321 p
supervisor=
trap '[ -z "$supervisor" ] || kill -CONT $supervisor 2>/dev/null || :
	"$WARDFS" kill mover >/dev/null 2>&1 || :; "$WARDFS" kill other >/dev/null 2>&1 || :' EXIT

# session NAME CMD...
session() {
	name=$1
	shift
	(cd p && exec "$WARDFS" run --session "$name" --policy ../shared.policy -- "$@" \
		>"../said.$name" 2>&1) &
}
running_now() { "$WARDFS" ps | grep -q "$1"; }
session other sleep 300
wait_until 60 running_now other || fail "$(cat said.other)"
moved() { [ "$("$WARDFS" exec other python3 once.py "$1" "$2" 2>&1)" = "$3" ]; }
wait_until 60 moved x y moved || fail "control: a rename beside nobody"
session mover python3 moves.py
mover=$!
wait_until 60 running_now mover || fail "$(cat said.mover)"
member() { "$WARDFS" ps --json | python3 -c \
	'import json, sys; print(next(s[sys.argv[1]] for s in json.load(sys.stdin) if s["session"] == "mover"))' "$1"; }
supervisor=$(member pid)
guard=$(member fs_pid)
inode=$(stat -c %i "$(find "$XDG_STATE_HOME" "$HOME" -name .moves)")
# Stops the guard at a moment at which it holds the lock.
holds() {
	kill -STOP "$guard"
	grep -q "OFDLCK.*WRITE.*:$inode 4096 4096" /proc/locks && return
	kill -CONT "$guard"
	return 1
}
wait_until 120 holds || fail "the guard never holds the lock: $(cat /proc/locks said.mover)"
moved y x EXDEV || fail "control: the lock keeps nobody out"
kill -STOP "$supervisor"
kill -KILL "$guard"
wait_until 2 moved y x moved || fail "the lock outlives the guard"
kill -CONT "$supervisor"
rc=0
wait "$mover" || rc=$?
[ $rc -eq 125 ] || fail "a session without its guard: $rc"
