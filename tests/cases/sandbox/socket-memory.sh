#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session's socket buffers count against [limits] memory: wardfs ends the session, or the kernel
# takes no more. The control: with enough room the same program keeps all of it.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to make a control group"
project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/sandbox/lib/socket-memory-keep.py" keep.py
for memory in 64M 1G; do
	printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n[limits]\nmemory = %s\nopen-files = 4096\n' \
		$memory >../$memory.policy
done
# MiB: with control groups of version 1 a quarter of where net.ipv4.tcp_mem begins to press.
share=$(awk '{ print int($1 / 4 / 256) }' /proc/sys/net/ipv4/tcp_mem 2>/dev/null || echo 0)
for kind in tcp udp unix; do
	want=150
	[ $kind = unix ] || [ "$share" -eq 0 ] || [ "$share" -ge 200 ] || want=$((share / 2))
	expect 0 "$WARDFS" run --policy ../1G.policy -- python3 keep.py $kind 200
	[ "$OUT" -ge "$want" ] || fail "control: $kind: $OUT MiB"
	got=0
	"$WARDFS" run --policy ../64M.policy -- python3 keep.py $kind 200 >out 2>err || got=$?
	if [ $got -eq 137 ]; then
		has "$(cat err)" "memory limit of 64M was met"
	else
		# Each socket has a minimum that the kernel gives in any case: 4 KiB.
		[ $got -eq 0 ] && [ "$(cat out)" -le 90 ] || fail "$kind: $got: $(cat out err)"
	fi
done

# The host shares these bounds: however large the limit of memory is, a session gets its share.
[ "$share" -gt 0 ] && [ -e /sys/fs/cgroup/memory/memory.kmem.tcp.limit_in_bytes ] || exit 0
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n[limits]\nmemory = %sM\nopen-files = 4096\n' \
	$((share * 8 + 256)) >../share.policy
for kind in tcp udp; do
	expect 0 "$WARDFS" run --policy ../share.policy -- python3 keep.py $kind $((share * 3))
	[ "$OUT" -le $((share + share / 4 + 30)) ] || fail "$kind: $OUT MiB of a share of $share MiB"
	[ "$OUT" -ge $((share / 2)) ] || fail "$kind: $OUT MiB of a share of $share MiB: too little"
done
