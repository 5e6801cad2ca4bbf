#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two sessions of wardfs that move directories in one project at the same time have a file between
# them: neither moves a secret to where a rule gives it (cases/fs/two-sessions). The control: with a
# state directory of its own and no home, a session does not wait for the other one, and says so.
# Sessions of an owner with a home share the file whatever their state directories are. Where the
# file cannot be opened, nothing starts.
# A start names a running session with other rules for the same files, or for a directory above. It
# is silent for the same rules (other limits, too), and for another directory.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/run/lib/workspace.sh"
secret_project
cp "$WARD_SRC/tests/cases/fs/lib/two-sessions.py" two.py
chmod 644 two.py
mkdir -p p/p/certs p/d
echo secret >p/p/certs/pub.pem
# An owner without a home: what is kept for one lies in the state directory.
[ "$(id -u)" -ne 0 ] || chown -R 54321:54321 p
policy=$PWD/shared.policy

# both WHAT: STATE names where the second one keeps its state
both() {
	rm -f there answer
	mkfifo there answer
	(cd p && XDG_STATE_HOME=$STATE "$WARDFS" run --policy "$policy" --read "$PWD/../two.py" -- \
		python3 "$PWD/../two.py" second "$1" <../there >../answer 2>../said.2) &
	second=$!
	(cd p && "$WARDFS" run --policy "$policy" --read "$PWD/../two.py" -- \
		python3 "$PWD/../two.py" first "$1" >../there <../answer 2>../said.1) && r=0 || r=1
	wait $second || r=1
	return $r
}
STATE=$XDG_STATE_HOME
both turns || fail "$(cat said.1 said.2)"

# told SAYS POLICY DIRECTORY
told() {
	(cd "$3" && "$WARDFS" run --policy "$2" -- true 2>"$WARD_TMP/said") || fail "$2 in $3: $(cat "$WARD_TMP/said")"
	case $1 in
	yes) has "$(cat "$WARD_TMP/said")" "session first is running with other rules for $PWD/p:" ;;
	no) hasnt "$(cat "$WARD_TMP/said")" "other rules" ;;
	esac
}
{ sed '/hide/d' shared.policy; } >other.policy
{ cat shared.policy && printf '[limits]\nwall = 1h\n'; } >limits.policy
mkdir -p q
[ "$(id -u)" -ne 0 ] || chown 54321:54321 q
told no "$PWD/other.policy" p
(cd p && exec "$WARDFS" run --session first --policy "$policy" -- \
	sh -c ': >d/ready; exec sleep 300' >../said.1 2>&1) &
first=$!
supervisor=
trap '[ -z "$supervisor" ] || kill -CONT $supervisor 2>/dev/null || :; "$WARDFS" kill first >/dev/null 2>&1 || :' EXIT
ready() { [ -e p/d/ready ]; }
wait_until 60 ready || fail "the session does not begin: $(cat said.1)"
told yes "$PWD/other.policy" p
told yes "$PWD/other.policy" p/d
told no "$policy" p
told no "$PWD/limits.policy" p
told no "$PWD/other.policy" q
# The files that another option shows are under no rule for these files.
(cd p && "$WARDFS" run --policy "$policy" --read "$PWD/../q" -- true 2>"$WARD_TMP/said") || fail "--read"
hasnt "$(cat "$WARD_TMP/said")" "other rules"
# A supervisor that is stopped holds up nobody, and nobody takes it for one with the same rules.
supervisor=$("$WARDFS" ps --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["pid"])')
kill -STOP "$supervisor"
(cd p && "$WARDFS" run --policy ../other.policy -- true 2>"$WARD_TMP/said") || fail "beside a stopped one"
kill -CONT "$supervisor"
has "$(cat "$WARD_TMP/said")" "session first does not answer: it may run with other rules"
expect 0 "$WARDFS" kill first
wait "$first" || :
told no "$PWD/other.policy" p

if [ "$(id -u)" -eq 0 ]; then
	# Root has a home, the owner above has none.
	[ ! -e "$HOME/.local" ] || fail "an owner without a home"
	rm -rf p/*
	mkdir -p p/p/certs p/d
	echo secret >p/p/certs/pub.pem
	chown -R 0:0 p
	STATE=$PWD/third
	both turns || fail "another state directory: $(cat said.1 said.2)"
	hasnt "$(cat said.1 said.2)" "do not wait for each other"
	[ -e "$HOME/.local/state/wardfs/guards/0/.moves" ] || fail "not in the home"
	[ -z "$(find third -name .moves)" ] || fail "a second file"
	chown -R 54321:54321 p
fi
file=$(find "$XDG_STATE_HOME" -name .moves)
has "$file" wardfs/guards/
STATE=$PWD/other
! both turns || fail "control: nothing is read without the file"
has "$(cat said.1 said.2)" "the secret is read"
has "$(cat said.1 said.2)" "do not wait for each other"
rm "$file"
mkfifo "$file"
cd p
expect 125 "$WARDFS" run --policy "$policy" -- touch never
has "$ERR" "$file"
[ ! -e never ] || fail "it started"
