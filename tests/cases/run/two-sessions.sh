#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two sessions of wardfs that move directories in one project at the same time have a file between
# them: neither moves a secret to where a rule gives it (cases/fs/two-sessions). The control: with a
# state directory of its own, a session does not wait for the other one. Where the file cannot be
# opened, nothing starts.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cat >shared.policy <<'P'
[policy]
version = 1
[tree /workspace]
source = .
[files]
write = /workspace
hide = *.pem
write = /workspace/a/certs/pub.pem
P
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
file=$(find "$XDG_STATE_HOME" -name .moves)
has "$file" wardfs/guards/
STATE=$PWD/other
! both turns || fail "control: nothing is read without the file"
has "$(cat said.1 said.2)" "the secret is read"
rm "$file"
mkfifo "$file"
cd p
expect 125 "$WARDFS" run --policy "$policy" -- touch never
has "$ERR" "$file"
[ ! -e never ] || fail "it started"
