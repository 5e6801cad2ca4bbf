#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Limits on processes, room in the shared tmpfs, open files and core dumps.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

check() {
	out=$(inside "$1" --processes 50 -- /attack children 60) && fail "$1: 60 children"
	[ "$out" = EAGAIN ] || fail "$1: children: $out"
	works inside "$1" --processes 50 -- /attack children 40
	# Five megabytes fit, eleven do not, wherever they are put together.
	works inside "$1" --tmp 10485760 -- /attack fill /tmp/file 5242880
	out=$(inside "$1" --tmp 10485760 -- /attack fill /tmp/file 11534336) && fail "$1: filled"
	[ "$out" = ENOSPC ] || fail "$1: fill: $out"
	out=$(inside "$1" --tmp 10485760 -- sh -c \
		'/attack fill /tmp/file 5242880 >/dev/null && /attack fill /dev/shm/file 7340032') &&
		fail "$1: /tmp and /dev/shm have separate limits"
	[ "$out" = ENOSPC ] || fail "$1: fill: $out"
	# No room is no room, not all of it (tmpfs takes size=0 for that).
	out=$(inside "$1" --tmp 0 -- /attack fill /tmp/file 8192) && fail "$1: filled nothing"
	[ "$out" = ENOSPC ] || fail "$1: fill: $out"
	out=$(inside "$1" --files 64 -- sh -c 'ulimit -n; ulimit -Hn' | tr '\n' ' ')
	[ "$out" = "64 64 " ] || fail "$1: open files: $out"
	[ "$(inside "$1" -- sh -c 'ulimit -Hc')" = 0 ] || fail "$1: core dumps"
	# Not 0: at that the kernel hands a core to whatever program core_pattern(5) names. At 1, to
	# nobody.
	for bytes in 0 4096 18446744073709551615; do
		blocked "$1" EPERM core-limit $bytes
	done
	[ "$(inside "$1" -- sed -n 's/^Max core file size *//p' /proc/self/limits | tr -d ' ')" = 11bytes ] ||
		fail "$1: core dumps are handed over"
	# Nobody goes before others by what the caller was given for that.
	out=$(inside "$1" -- sed -nE 's/^Max (nice|realtime) priority *//p' /proc/self/limits | tr -d '\n ')
	[ "$out" = 0000 ] || fail "$1: priorities: $out"
}

works "$ATTACK" children 60
works "$ATTACK" fill "$WARD_TMP/file" 11534336
rm -f "$WARD_TMP/file"
[ "$(prlimit --nofile --noheadings -o HARD | tr -d ' ')" != 64 ] || fail "control: 64 open files are all that there are here"
works "$ATTACK" core-limit 0
works "$ATTACK" core-limit 1
each_mode check
# A fork bomb in one sandbox does not keep the owner from starting another.
mode=user
! by_root || mode=root
inside $mode --processes 20 --pid "$WARD_TMP/pid" -- sh -c 'echo; /attack children 1000; sleep 600' \
	>"$WARD_TMP/bomb" &
trap 'kill "$(supervisor "$WARD_TMP/pid")" || :' EXIT
i=0
until [ -s "$WARD_TMP/bomb" ]; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "the bomb did not start"
	sleep 0.1
done
works inside $mode --processes 20 -- /attack children 15
