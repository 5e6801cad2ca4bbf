#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command fails because it has no network. wardfs says so, and how to open one. It says nothing
# about a command that succeeds, stays local, or has a network. As root and as an ordinary user.
set -eu
. "$WARD_SRC/tests/lib.sh"
cat >main.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project "$HOME/p"
cd "$HOME/p" || exit 1
said="looked for a host and has no network"
cp "$WARD_SRC/tests/cases/run/lib/offline-look.py" look.py
for what in name 203.0.113.10; do
	expect 1 "$WARDFS" run -- python3 look.py $what
	has "$ERR" "tried: "
	has "$ERR" "$said"
	has "$ERR" "wardfs policy add allow"
	[ "$(printf '%s\n' "$ERR" | grep -F "$said" | wc -w)" -le 30 ] || fail "long: $ERR"
	expect 0 "$WARDFS" run -- sh -c "python3 look.py $what; true"
	has "$ERR" "tried: "
	hasnt "$ERR" "$said"
done
# That a name does not exist is final. EAI_AGAIN had programs try again for minutes.
expect 1 "$WARDFS" run -- python3 look.py name
has "$ERR" "Name or service not known"
hasnt "$ERR" "Temporary failure"
expect 0 "$WARDFS" run -- getent ahosts localhost
has "$OUT" 127.0.0.1
# npm tries again whatever the error is: once is told so. Control: with its own patience it does.
attempts() {
	expect 1 "$WARDFS" run "$@" -- npm install --no-audit --no-fund --no-update-notifier --loglevel http \
		--fetch-retry-mintimeout 10 --fetch-retry-maxtimeout 20 tiny
	printf '%s\n' "$ERR" | grep -c 'attempt [0-9]* failed'
}
echo '{"name": "p", "version": "1.0.0"}' >package.json
[ "$(attempts --env npm_config_fetch_retries=1)" -eq 2 ] || fail "control: npm tried once"
[ "$(attempts)" -eq 1 ] || fail "npm tried more than once"
expect 1 "$WARDFS" run -- python3 look.py 127.0.0.1
has "$ERR" "tried: "
hasnt "$ERR" "$said"
expect 3 "$WARDFS" run -- sh -c 'exit 3'
[ -z "$(said_besides_limits)" ] || fail "not silent: $ERR"
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
