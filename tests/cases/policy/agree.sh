#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy explain` and a mounted tree give the same answer, errno for errno, for random policies
# and requests. Each run uses the same ones.
# timeout: 3000
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
mkdir source mount
cleanup() {
	"$WARD_BUILD/wardfs" umount "$PWD/mount" 2>/dev/null || :
}
trap cleanup EXIT
python3 "$WARD_SRC/tests/cases/policy/lib/agree-reference.py"
