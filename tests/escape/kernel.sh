#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernel interfaces: attempts.sh tries those that a guarded command does not need. Here is what its
# filter answers beyond, and what has to work.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

check() {
	blocked "$1" EPERM personality 0x0400000 # READ_IMPLIES_EXEC
	works inside "$1" -- /attack personality 0xffffffff
	blocked "$1" ENOSYS unknown
	for type in char block; do
		blocked "$1" EPERM mknod /tmp/node $type
	done
	works inside "$1" -- /attack mknod /tmp/node fifo
}

works "$ATTACK" personality 0x0400000
for type in char block; do
	root_works "$ATTACK" mknod "$WARD_TMP/node.$type" $type
done
works "$ATTACK" mknod "$WARD_TMP/node.fifo" fifo
rm "$WARD_TMP"/node.*
each_mode check
