#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernel interfaces that a guarded command does not need.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

check() {
	for attempt in bpf userfaultfd io-uring perf key keyctl settime set-mm 32bit x32 modify-ldt capset; do
		blocked "$1" EPERM "$attempt"
	done
	blocked "$1" EPERM personality 0x0400000 # READ_IMPLIES_EXEC
	works inside "$1" -- /attack personality 0xffffffff
	blocked "$1" ENOSYS unknown
	for type in char block; do
		blocked "$1" EPERM mknod /tmp/node $type
	done
	works inside "$1" -- /attack mknod /tmp/node fifo
	# All of them in one sandbox: each is refused, and by the filter, before the kernel looks at
	# anything.
	# shellcheck disable=SC2016
	inside "$1" -- sh -c 'for c in $(/attack calls); do echo "$c $(/attack call "$c")"; done' >"$WARD_TMP/calls"
	[ "$(grep -vc '^done ' "$WARD_TMP/calls")" -gt 28 ] || fail "$1: $(cat "$WARD_TMP/calls")"
	grep -v '^done ' "$WARD_TMP/calls" | grep -v ' EPERM$' && fail "$1: not refused"
	# Files of the kernel that reach the host.
	for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory \
		/proc/sysrq-trigger; do
		[ -e $file ] || continue
		out=$(inside "$1" -- /attack open $file w) && fail "$1: $file was opened"
		case $out in EACCES | EROFS) ;; *) fail "$1: $file: $out" ;; esac
	done
	for file in /proc/sys/fs/binfmt_misc/register /sys/fs/cgroup/cgroup.procs /dev/fuse /dev/userfaultfd /dev/mem \
		/dev/kmsg /dev/net/tun /dev/loop-control /dev/vhost-vsock; do
		blocked "$1" ENOENT open $file r
	done
}

for attempt in bpf userfaultfd perf key keyctl settime set-mm capset; do
	works "$ATTACK" "$attempt"
done
[ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null)" = 2 ] || works "$ATTACK" io-uring
works "$ATTACK" personality 0x0400000
works "$ATTACK" x32
# A kernel without these interfaces says so: then there is nothing to test.
for attempt in 32bit modify-ldt; do
	out=$("$ATTACK" "$attempt") || [ "$out" = ENOSYS ] || fail "control: $attempt: $out"
done
for type in char block fifo; do
	works "$ATTACK" mknod "$WARD_TMP/node.$type" $type
	rm "$WARD_TMP/node.$type"
done
# Root outside: arguments are what is wrong with them. One that this kernel lacks shows nothing.
for attempt in $("$ATTACK" calls | grep -v '^done$'); do
	out=$("$ATTACK" call "$attempt") || [ "$out" = ENOSYS ] || fail "control: $attempt: $out"
done
for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory; do
	works "$ATTACK" open $file w
done
# What is not there inside is there outside, as far as this kernel has it, and opens: reading it is
# not tried.
for file in /dev/fuse /dev/kmsg /dev/net/tun /dev/loop-control /proc/sysrq-trigger; do
	[ ! -e $file ] || works "$ATTACK" open $file "$([ $file = /proc/sysrq-trigger ] && echo w || echo r)"
done
[ -n "$(find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs)" ] || fail "control: the host shows no cgroups"
each_mode check
