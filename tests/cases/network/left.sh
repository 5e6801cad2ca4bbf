#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What left the host: wardfs audit network answers for one session and for all, the same from
# trail and index. Reports contain it.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$WARD_SRC/tests/cases/network/lib/left-ask.py" ask.py
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example'
expect 0 "$WARDFS" run --policy "$HOME/pol" --session first -- python3 ask.py web.example
expect 0 "$WARDFS" run --policy "$HOME/pol" --session second -- python3 ask.py web.example other.example 192.0.2.7
"$WARDFS" audit network --json second >one || fail "of one"
"$WARDFS" audit network --json >all || fail "of all"
"$WARDFS" audit network --json --host 'w?b.exam*' >some || fail "--host"
"$WARDFS" audit network --json --since 2999-01-01 >none || fail "--since"
python3 "$WARD_SRC/tests/cases/network/lib/left-same.py" || fail "$(cat one all)"
expect 0 "$WARDFS" audit network second
has "$OUT" 'allowed'
has "$OUT" 'python3'
has "$OUT" 'web.example:80 tcp'
echo "$OUT" | grep -q '^second  *allowed  *out ' || fail "the way: $OUT"
has "$OUT" '192.0.2.7:80 tcp'
expect 0 "$WARDFS" audit report --format md second
has "$OUT" 'It made 2 network connections.'
for format in html md json; do
	expect 0 "$WARDFS" audit report --format $format second
	has "$OUT" 192.0.2.7
done
expect 0 "$WARDFS" audit sql "SELECT DISTINCT session FROM records WHERE host = 'web.example' AND sent > 0"
[ "$OUT" = "session
first
second" ] || fail "sql: $OUT"
# A command that fails because a host that it may reach was not reached: that is said. The control:
# one that fails after it reached its host, and one that gets over it.
reached='curl -sS -o /dev/null --max-time 60 "http://$1/"; exit "$2"'
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example' 'allow = nowhere.example'
expect 7 "$WARDFS" run --policy "$HOME/pol" -- sh -c "$reached" sh web.example 7
hasnt "$ERR" "could not make a connection"
expect 0 "$WARDFS" run --policy "$HOME/pol" -- sh -c "$reached" sh nowhere.example 0
hasnt "$ERR" "could not make a connection"
expect 7 "$WARDFS" run --policy "$HOME/pol" -- sh -c "$reached" sh nowhere.example 7
has "$ERR" "this host could not make a connection that the policy allows: nowhere.example:80: the name does not exist"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
