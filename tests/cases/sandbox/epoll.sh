#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel counts epoll(7) watches for a whole user and limits them to 4 percent of the
# machine's memory. wardfs counts them as the session's memory, so the memory limit bounds them.
# plain
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$WARD_TMP/state" XDG_RUNTIME_DIR="$WARD_TMP/run"
mkdir -p p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
cd p || exit 1
cp "$WARD_SRC/tests/cases/sandbox/lib/epoll-watches.py" watches.py
limits 'memory = 48M' -- true ||
	skip "this host has no control group for memory: $(limits 'memory = 48M' -- true 2>&1)"
# 48M can hold half of this.
goal=600000
all=$(cat /proc/sys/fs/epoll/max_user_watches)
[ "$all" -gt $goal ] || skip "a small machine: fs.epoll.max_user_watches = $all"
# The control: without the limit nothing stops it.
expect 0 limits 'wall = 1h' -- python3 watches.py $goal
[ "$(printf '%s\n' "$OUT" | tail -n 1)" -ge $goal ] || fail "control: $OUT"
limits 'memory = 48M' -- python3 watches.py $goal >out 2>err && rc=0 || rc=$?
got=$(tail -n 1 out)
[ "${got:-0}" -gt 0 ] || fail "none: $rc: $(cat err)"
[ "$got" -lt $((goal / 2)) ] || fail "$got in 48M: $rc: $(cat err)"
