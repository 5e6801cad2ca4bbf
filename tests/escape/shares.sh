#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the kernel counts for a whole user, inside and outside. A command that takes everything
# inside leaves some to the owner's programs on the host.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

by_root || skip "needs root: a user who runs nothing else"
# Ids of its own: what is taken here is nobody else's meanwhile.
TEST_UID=$((20000 + $$ % 30000))
chmod 755 "$WARD_TMP"
cp "$WARD_SRC/tests/escape/lib/shares-take.py" "$WARD_TMP/take.py"
PYTHON=/usr/bin/python3
# Of everything that follows: few enough timers to be taken quickly.
prlimit --pid $$ --nofile=20000:20000 --sigpending=5000:5000

outside() { # outside WHAT hold|go
	setpriv --reuid $TEST_UID --regid $TEST_UID --clear-groups $PYTHON "$WARD_TMP/take.py" "$@"
}

within() { # within MODE WHAT hold|go
	mode=$1
	shift
	if [ "$mode" = root ]; then
		inside root --uid $TEST_UID --gid $TEST_UID --files 20000 --bind "$WARD_TMP/take.py=/take.py" -- $PYTHON /take.py "$@"
	else
		inside user --files 20000 --bind "$WARD_TMP/take.py=/take.py" -- $PYTHON /take.py "$@"
	fi
}

# left COMMAND...: what another process outside gets while the command holds all that it can
left() {
	what=$2
	[ "$1" = outside ] || what=$3
	rm -f "$WARD_TMP/hold" "$WARD_TMP/took"
	mkfifo "$WARD_TMP/hold"
	"$@" <"$WARD_TMP/hold" >"$WARD_TMP/took" 2>"$WARD_TMP/err" &
	holder=$!
	exec 9>"$WARD_TMP/hold"
	i=0
	until [ -s "$WARD_TMP/took" ]; do
		i=$((i + 1))
		{ [ $i -lt 1200 ] && kill -0 $holder 2>/dev/null; } || fail "nothing was taken: $*: $(cat "$WARD_TMP/err")"
		sleep 0.1
	done
	outside "$what" go
	exec 9>&-
	wait $holder || fail "$*: $(cat "$WARD_TMP/err")"
}

check() {
	for what in instances timers flight; do
		out=$(left within "$1" $what hold)
		[ "$out" -gt 0 ] || fail "$1: $what: none is left; inside: $(cat "$WARD_TMP/took")"
		[ "$(cat "$WARD_TMP/took")" -gt "$out" ] || fail "$1: $what: inside only $(cat "$WARD_TMP/took")"
	done
}

for what in instances timers flight; do
	out=$(left outside $what hold)
	[ "$out" = 0 ] || fail "control: $what: $out are left"
done
each_mode check
