#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Namespaces: attempts.sh tries to make each. What is no namespace works, and the second wall behind
# the filter is there: the namespace allows no further one.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

check() {
	# Its flags cannot be seen by a filter: it does not exist here.
	blocked "$1" ENOSYS clone3 0x10000000
	# Root is no id of the namespace.
	blocked "$1" EINVAL setuid 0
	# Without flags a clone is a fork, and unshare(CLONE_FS) concerns oneself.
	works inside "$1" -- /attack clone 0
	works inside "$1" -- /attack unshare 0x200
	out=$(inside "$1" -- cat /proc/sys/user/max_user_namespaces)
	[ "$out" = 0 ] || fail "$1: user.max_user_namespaces is $out"
}

works "$ATTACK" clone3 0x10000000
works apart "$ATTACK" setuid 0
each_mode check
