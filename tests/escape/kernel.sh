#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Parts of the kernel that a guarded command has no business with.
set -eu
. "$(dirname "$0")/lib.sh"

check() {
	for attempt in bpf userfaultfd io-uring perf key keyctl settime set-mm 32bit x32 modify-ldt capset; do
		refused "$1" EPERM "$attempt"
	done
	refused "$1" EPERM personality 0x0400000 # READ_IMPLIES_EXEC
	works inside "$1" -- /attack personality 0xffffffff
	refused "$1" ENOSYS unknown
	for type in char block; do
		refused "$1" EPERM mknod /tmp/node $type
	done
	works inside "$1" -- /attack mknod /tmp/node fifo
}

for attempt in bpf userfaultfd perf key keyctl settime set-mm capset; do
	works "$ATTACK" "$attempt"
done
[ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null)" = 2 ] || works "$ATTACK" io-uring
works "$ATTACK" personality 0x0400000
# Kernels without these interfaces answer by a signal or ENOSYS: then nothing is to be shown.
"$ATTACK" 32bit >/dev/null || echo "note: no 32-bit system calls on this kernel"
works "$ATTACK" x32
out=$("$ATTACK" modify-ldt) || [ "$out" = ENOSYS ] || fail "control: modify-ldt: $out"
for type in char block fifo; do
	works "$ATTACK" mknod "$WARD_TMP/node.$type" $type
	rm "$WARD_TMP/node.$type"
done
each_mode check
