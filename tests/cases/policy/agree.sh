#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `policy explain` says and what a mounted tree answers are the same, errno for errno: random
# policies and requests, the same ones in every run.
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
