# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For what the cases of this folder run inside, where the sources are out of reach: net_project()
# puts this file beside it.
set -eu

# says WANT CMD...: the command prints this, whatever its exit status.
says() {
	want=$1
	shift
	got=$("$@" 2>.err) || :
	[ "$got" = "$want" ] && return
	echo "FAIL: inside: '$got' instead of '$want': $* ($(cat .err))" >&2
	exit 1
}

fetch() {
	curl -sS --max-time 60 "$@"
}
