#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trail records brief use near a limit: room and names in /tmp, in the home and in an
# ephemeral tree, descriptors, processes. It does not record lower use.
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >short.body <<'S2'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[tree /scratch]\nsource = tmpfs:8M\n[files]\nwrite = /scratch\n[home]\nmode = tmpfs\n[limits]\nopen-files = 200\nprocesses = 100\ntmp = 8M\nwall = 5m\n' >short.policy
# Works, uses so much in the middle of its work, lets go of it, and works on.
cp "$WARD_SRC/tests/cases/sandbox/lib/short-moment.py" moment.py
n=0
session() {
	n=$((n + 1))
	expect 0 "$WARDFS" run --session short$n --policy short.policy -- python3 moment.py "$@"
	told=$("$WARDFS" audit show --json --kind limit short$n 2>/dev/null)
}
# momentary NAME UNIT ARG...: of some such sessions one at least is told, with this name and unit:
# that of a supervisor that gets no processor for so long may not be.
momentary() {
	name=$1 unit=$2
	shift 2
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		session "$@"
		case $told in *'"name":"'"$name"'"'*) break ;; esac
	done
	has "$told" '"name":"'"$name"'"'
	has "$told" '"unit":"'"$unit"'"'
	has "$told" '"done":"near"'
	[ "$(printf '%s\n' "$told" | grep -c .)" = 1 ] || fail "more than that: $told"
}
silent() {
	session "$@"
	[ -z "$told" ] || fail "$*: $told"
}
momentary tmp bytes bytes 8000000 /tmp
momentary tmp bytes bytes 8000000 /dev/shm
momentary tmp files names 2850 /tmp
momentary home bytes bytes 8000000 /home/agent
momentary /scratch bytes bytes 8000000 /scratch
# Without a control group nobody counts them.
[ "$(id -u)" != 0 ] || momentary processes processes processes 92
# Before Linux 6.2 nobody sees how many there are.
[ "$(stat -c %s /proc/self/fd)" = 0 ] || momentary open-files files files 190
silent bytes 7000000 /tmp
silent names 2600 /tmp
silent bytes 7000000 /scratch
silent files 150
silent processes 70
# The last files were perhaps not looked at in time, but still can be.
expect 0 "$WARDFS" run --session last --policy short.policy -- sh -c 'head -c 8000000 /dev/zero >/tmp/f; sleep 0.1 & exit 0'
has "$("$WARDFS" audit show --json --kind limit last)" '"name":"tmp"'
S2
cp short.body short.sh
chmod 755 "$WARD_TMP"
sh ./short.sh || fail "as root"
as_user "$WARD_TMP/short.sh" || fail "as an ordinary user"
