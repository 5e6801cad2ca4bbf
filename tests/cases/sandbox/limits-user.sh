#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An ordinary user's limits: refused by name without a delegated group, the two ways around that,
# and enforced with one.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"

cat >common.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/sandbox/lib/limits.sh"
WARD_TMP=$HOME
[ "$(id -u)" = 4711 ] || fail "not the ordinary user"
mkdir -p p
cd p || exit 1
S

cat >without.sh <<'S'
set -eu
. "${0%/*}/common.sh"
for l in memory=64M cpus=0.5 cpu-time=10m; do
	expect 125 limits "$l" -- touch started
	has "$ERR" "[limits] ${l%=*} = "
	has "$ERR" "--allow-missing limit-${l%=*}"
	has "$ERR" "fix: "
	[ ! -e started ] || fail "the command ran without its limit"
	expect 0 limits "$l" --allow-missing "limit-${l%=*}" -- true
	has "$ERR" "limit '${l%=*}' is not enforced"
	has "$(last session.start)" "\"limit-${l%=*}\":"
	expect 0 limits "require = where-available\n$l" -- true
	has "$ERR" "limit '${l%=*}' is not enforced"
done
# One name is one guarantee.
expect 125 limits 'memory = 64M\ncpus = 1' --allow-missing limit-cpus -- true
has "$ERR" "memory"
expect 2 limits 'memory = 64M' --allow-missing files -- true
expect 2 limits 'memory = 64M' --allow-missing nonsense -- true
has "$ERR" "limit-memory"
# The limits of a process by itself: data and CPU time. Without them the same succeeds.
expect 0 limits 'processes = 50' -- python3 -c "$hog"
expect 1 limits 'require = where-available\nmemory = 64M' -- python3 -c "$hog"
has "$ERR" "MemoryError"
has "$(last session.start)" '"by":"rlimit"'
# A program that ends itself there is told of, and without such a limit it is not.
expect 134 limits 'require = where-available\nmemory = 64M' -- python3 -c 'import os; os.abort()'
has "$ERR" "signal 6 ended the command, as it does programs that get no more memory: each process may have 64M"
has "$ERR" "fix: a larger [limits] memory"
expect 134 limits 'processes = 50' -- python3 -c 'import os; os.abort()'
hasnt "$ERR" "memory"
expect 143 limits 'require = where-available\nmemory = 64M' -- sh -c 'kill -TERM $$'
hasnt "$ERR" "get no more memory"
expect 137 limits 'require = where-available\ncpu-time = 1s' -- python3 -c 'while True: pass'
# Limits that need no group work everywhere.
expect 124 limits 'wall = 1s' -- sleep 60
expect 124 limits 'idle = 1s' -- sleep 60
has "$(last session.end)" '"memory_peak":null'
exit 0
S

cat >with.sh <<'S'
set -eu
. "${0%/*}/common.sh"
expect 0 limits 'memory = 64M\ncpus = 0.5\ncpu-time = 10m\nprocesses = 50' -- true
expect 137 limits 'memory = 64M' -- python3 -c "$hog"
has "$ERR" "the memory limit of 64M was met"
expect 0 limits 'memory = 400M' -- python3 -c "$hog"
expect 124 limits 'cpu-time = 1s' -- python3 -c 'import os
os.fork()
while True: pass'
# The group is the user's, and the command runs as that user: what it cannot do is name it.
expect 0 limits 'memory = 64M' -- sh -c 'ls -d /sys/fs/cgroup 2>/dev/null || echo none; cat /proc/self/cgroup'
has "$OUT" none
hasnt "$OUT" wardfs
exit 0
S
# Memory runs out in a group above: no limit of the session is named, nor is one there to be named.
cat >under.sh <<'S'
set -eu
. "${0%/*}/common.sh"
for l in 'processes = 50' 'memory = 4G'; do
	expect 137 limits "$l" -- python3 -c "$hog"
	has "$ERR" "memory ran out around the session, not by a limit of its own: the kernel ended 1 process"
	hasnt "$ERR" "memory limit of"
	has "$(last session.end)" '"ended_by":"signal"'
	has "$(last limit)" "memory ran out around the session"
done
expect 137 limits 'memory = 64M' -- python3 -c "$hog"
has "$ERR" "the memory limit of 64M was met"
exit 0
S
cp ./*.sh "$WARD_TMP/" 2>/dev/null || :
chmod 755 "$WARD_TMP" && chmod 644 "$WARD_TMP"/*.sh

# In a group that is nobody's: at the top of each hierarchy, say, or where this test stands.
as_user "$WARD_TMP/without.sh" || fail "without delegation"

# Delegated, with us in the group.
. "$WARD_SRC/tests/cases/sandbox/lib/delegated.sh"
(
	enter_delegated
	as_user "$WARD_TMP/with.sh" || exit 1
	for d in $made; do
		for f in memory.limit_in_bytes memory.memsw.limit_in_bytes memory.max; do
			[ ! -e "$d/$f" ] || echo 150M >"$d/$f" || exit 1
		done
		[ ! -e "$d/memory.swap.max" ] || echo 0 >"$d/memory.swap.max" || exit 1
		[ ! -e "$d/memory.swappiness" ] || echo 0 >"$d/memory.swappiness" || exit 1
	done
	as_user "$WARD_TMP/under.sh"
) || fail "with delegation"
exit 0
