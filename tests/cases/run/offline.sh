#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command that fails because it has no network is told so, with what opens one; nothing is said of one that
# succeeds, that did not look beyond itself, or that has a network. As root and as an ordinary user.
set -eu
. "$WARD_SRC/tests/lib.sh"
cat >main.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project "$HOME/p"
cd "$HOME/p" || exit 1
said="[network] mode = none"
cp "$WARD_SRC/tests/cases/run/lib/offline-look.py" look.py
for what in name 203.0.113.10; do
	expect 1 "$WARDFS" run -- python3 look.py $what
	has "$ERR" "tried: "
	has "$ERR" "$said"
	has "$ERR" "wardfs policy add allow"
	expect 0 "$WARDFS" run -- sh -c "python3 look.py $what; true"
	has "$ERR" "tried: "
	hasnt "$ERR" "$said"
done
expect 1 "$WARDFS" run -- python3 look.py 127.0.0.1
has "$ERR" "tried: "
hasnt "$ERR" "$said"
expect 3 "$WARDFS" run -- sh -c 'exit 3'
[ -z "$ERR" ] || fail "not silent: $ERR"
# The command that is named works.
expect 0 "$WARDFS" policy add allow web.example:80
expect 1 "$WARDFS" run -- python3 look.py 203.0.113.10
has "$ERR" "tried: "
hasnt "$ERR" "$said"
exit 0
S
if [ "$(id -u)" -ne 0 ]; then
	exec sh main.sh
fi
mkdir roots
(HOME=$WARD_TMP/roots; export HOME; sh "$WARD_TMP/main.sh") || fail "as root"
as_user "$WARD_TMP/main.sh" || fail "as an ordinary user"
exit 0
