# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of steps share: a session whose changes are staged, and that runs until it is
# killed.
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

# steps_session NAME [OPTION...]: $pid is its supervisor.
steps_session() {
	name=$1
	shift
	"$WARDFS" run --review --session "$name" "$@" -- sh -c 'echo up; exec sleep 900' \
		>"$WARD_TMP/up-$name" 2>"$WARD_TMP/err-$name" &
	pid=$!
	wait_until 60 grep -q up "$WARD_TMP/up-$name" || fail "$name: $(cat "$WARD_TMP/err-$name")"
}
steps_over() {
	"$WARDFS" kill "$1" >/dev/null
	wait "$pid" || :
}
steps_end() {
	"$WARDFS" ps --json | sed -n 's/.*"session": "\(.*\)".*/\1/p' | xargs -rn1 "$WARDFS" kill || :
	wait
}
# inside NAME SCRIPT: what it prints.
inside() { "$WARDFS" exec "$1" -- sh -euc "$2"; }
# seen NAME: kind, permissions, link and content of each name, as the session sees them.
seen() {
	inside "$1" "find . -path ./.git -prune -o -printf '%y %m %p %l\n' | sort -k3
		find . -path ./.git -prune -o -type f -readable -exec sha256sum {} + | sort -k2"
}
# same WHAT A B: the two texts are one.
same() {
	[ "$2" = "$3" ] && return 0
	printf '%s\n' "$2" >"$WARD_TMP/same-a"
	printf '%s\n' "$3" >"$WARD_TMP/same-b"
	diff "$WARD_TMP/same-a" "$WARD_TMP/same-b" >&2 || :
	fail "$1: not the same"
}
# listed: what is in the project, as seen() has it of the session.
listed() {
	find . -path ./.git -prune -o -printf '%y %m %p %l\n' | sort -k3
	find . -path ./.git -prune -o -type f -readable -exec sha256sum {} + | sort -k2
}
