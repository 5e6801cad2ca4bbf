# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2059
# For the cases of limits.
set -eu
. "$WARD_SRC/tests/lib.sh"

# limits LINES ARG...: wardfs run ARG... under medium with these lines (\n between them) in
# [limits], and without the memory limit of that profile.
limits() {
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\n' >limits.policy
	case $1 in *memory*) ;; *) echo 'memory = none' >>limits.policy ;; esac
	printf "$1\n" >>limits.policy
	shift
	"$WARDFS" run --policy limits.policy "$@"
}

# last KIND: the last record of this kind in the last trail.
last() {
	"$WARDFS" audit show -v | awk -v k="$1" '$3 == k' | tail -n 1
}

# Needs 200 MB.
hog='x = bytearray(200 << 20); print(len(x))'
