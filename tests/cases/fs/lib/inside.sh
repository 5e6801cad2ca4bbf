# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The scripts that run inside a mount start with this file: see script() in fs.sh.
set -eu
. "$WARD_SRC/tests/lib.sh"

# seen: looks at everything below twice, the second time through directories that are watched.
seen() {
	ls -lR . >/dev/null
	sleep 1.1
	ls -lR . >/dev/null
}

same() {
	[ "$1" = "$2" ] || fail "[$1] is not [$2]"
}

# soon WANT CMD...: what the command prints becomes WANT; within a minute.
soon() {
	want=$1
	shift
	n=0
	while [ "$("$@" 2>/dev/null)" != "$want" ]; do
		n=$((n + 1))
		[ $n -lt 1200 ] || fail "$* is not [$want] but [$("$@" 2>&1)]"
		sleep 0.05
	done
}
