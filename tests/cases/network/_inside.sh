# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For what the cases of this folder run inside: net_project() puts it beside them.

# says WANT CMD...: the command prints this.
says() {
	want=$1
	shift
	got=$("$@" 2>.err)
	[ "$got" = "$want" ] && return
	echo "FAIL: inside: '$got' instead of '$want': $* ($(cat .err))" >&2
	exit 1
}

fetch() {
	curl -sS --max-time 60 "$@"
}
