#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A helper lists the trees beside the command, so that the kernel knows names before the program
# asks for them. It sees no more than the command, leaves no record, and skips names that begin
# with a dot.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nhide = hidden\n' >walked.policy
# The control: if the command must stay the only program, nobody walks.
{ cat walked.policy; printf '[process]\nseccomp = no-exec\nterminal = no\n'; } >alone.policy
cp "$WARD_SRC/tests/cases/run/lib/warm-ask.py" ask.py
mkdir tree
for i in 1 2 3 4 5 6 7 8 9; do
	for k in 0 1 2 3 4 5 6 7 8 9; do
		mkdir -p "tree/d$i/$k" "tree/.dot/$i$k"
		echo x >"tree/d$i/$k/f"
	done
done
mkdir tree/hidden tree/closed
echo x >tree/hidden/f
chmod 0 tree/closed
chown -R 54321:54321 tree
mkfifo go

over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }
watched() { python3 "$WARD_TMP/ask.py" "$1" 2>/dev/null || echo 0; }
at_least() { [ "$(watched "$2")" -ge "$1" ]; }
up() { python3 "$WARD_TMP/ask.py" "$1"; }
# start NAME POLICY: a command that reads a line and ends; end NAME
start() {
	(cd tree && exec "$WARDFS" run --session "$1" --policy "$WARD_TMP/$2" -- /usr/bin/head -n 1) \
		<go >"out.$1" 2>&1 &
	pid=$!
	exec 9>go
	wait_until 60 up "$1" || fail "$1: $(cat "out.$1")"
}
end() {
	echo "done" >&9
	exec 9>&-
	wait $pid || fail "$1: status $?: $(cat "out.$1")"
	# nothing but what it read: no refusal is told of either
	[ "$(cat "out.$1")" = "done" ] || fail "$1: $(cat "out.$1")"
	wait_until 60 over || fail "$1 goes on"
}

# walked NAME: starts a session, $walked, in which most are walked. A walk ends after two seconds
# (warm.c), in which a machine with much else to do may have let it go on for a few directories
# only: then it is the next session's.
walked() {
	for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
		walked=$1-$try
		start "$walked" walked.policy
		wait_until 5 at_least 60 "$walked" && return
		n=$(watched "$walked")
		end "$walked"
	done
	fail "watched: $n"
}
# 100 directories are there to be walked; a few are listed before the first watch is made.
walked first
end "$walked"
walked again
# beside it nothing is asked for: what it did not go into is not looked at
n=$(watched "$walked")
[ "$n" -le 110 ] || fail "too many are watched: $n"
end "$walked"
start alone alone.policy
sleep 1
n=$(watched alone)
[ "$n" -lt 10 ] || fail "nobody should walk: $n"
end alone
expect 0 "$WARDFS" audit denials "$walked"
hasnt "$OUT" hidden
hasnt "$OUT" closed
expect 0 "$WARDFS" audit verify "$walked"
