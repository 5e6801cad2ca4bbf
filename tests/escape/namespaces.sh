#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No further namespaces: in its own user namespace a process would have capabilities again.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

check() {
	# CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWTIME, NEWCGROUP, NEWUTS, NEWIPC
	for flags in 0x10000000 0x20000 0x20000000 0x40000000 0x80 0x2000000 0x4000000 0x8000000; do
		blocked "$1" EPERM unshare "$flags"
	done
	for flags in 0x10000000 0x20000 0x20000000; do
		blocked "$1" EPERM clone "$flags"
		# Its flags cannot be seen by a filter: it does not exist here.
		blocked "$1" ENOSYS clone3 "$flags"
	done
	# Root is no id of the namespace.
	blocked "$1" EINVAL setuid 0
	blocked "$1" EPERM hostname other
	# Without flags a clone is a fork, and unshare(CLONE_FS) concerns oneself.
	works inside "$1" -- /attack clone 0
	works inside "$1" -- /attack unshare 0x200
	# The second wall: the namespace itself allows none.
	out=$(inside "$1" -- cat /proc/sys/user/max_user_namespaces)
	[ "$out" = 0 ] || fail "$1: user.max_user_namespaces is $out"
}

for flags in 0x10000000 0x20000 0x20000000 0x40000000 0x80 0x2000000 0x4000000 0x8000000; do
	works "$ATTACK" unshare "$flags"
done
for flags in 0x10000000 0x20000 0x20000000; do
	works "$ATTACK" clone "$flags"
	works "$ATTACK" clone3 "$flags"
done
works "$ATTACK" setuid 0
works unshare -u "$ATTACK" hostname other
each_mode check
