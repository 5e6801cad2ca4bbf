#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs policy reload, as root and as an ordinary user, changes what is allowed while the session
# runs. wardfs closes a connection that lost its right; the others continue.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$WARD_SRC/tests/cases/network/lib/reload-two.py" two.py
policy "$HOME/pol" 'mode = allowlist' 'allow = echo.example:3000' 'allow = *.wild.example:3000'
"$WARDFS" run --policy "$HOME/pol" --session live -- python3 two.py >out 2>err &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
wait_until 60 test -e first || fail "not begun: $(cat out err)"
policy "$HOME/pol" 'mode = allowlist' 'allow = echo.example:3000' 'allow = web.example:3000'
expect 0 "$WARDFS" policy reload live "$HOME/pol"
touch second
wait "$run" || fail "$(cat out err)"
run=
[ "$(cat out)" = "True True None
True False None True" ] || fail "$(cat out err)"
"$WARDFS" audit show live --kind deny | grep -q 'host a.wild.example .*another policy' || fail "not recorded"
expect 0 "$WARDFS" audit verify live

echo '--- what was resolved under the old policy, and is tried under the new one'
# The first address takes packets and answers none; then the second one is tried. Its answer
# arrives.
echo 'slow.example 203.0.113.99 203.0.113.10' >>"$NET/zone"
policy "$HOME/pol" 'mode = allowlist' 'allow = slow.example:3000' 'connect-time = 1s'
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 n.py first slow.example 3000
[ "$OUT" = SERVER-FIRST ] || fail "control: $OUT $ERR"
policy "$HOME/pol" 'mode = allowlist' 'allow = slow.example:3000' 'connect-time = 2m'
: >"$NET/log"
"$WARDFS" run --policy "$HOME/pol" --session slow -- sh -c 'python3 n.py first slow.example 3000 || :' >out 2>err &
run=$!
wait_until 60 grep -q 'dns slow.example' "$NET/log" || fail "never looked up: $(cat out err)"
policy "$HOME/pol" 'mode = allowlist' 'allow = slow.example:3000' 'deny = 203.0.113.10' 'connect-time = 2m'
expect 0 "$WARDFS" policy reload slow "$HOME/pol"
wait "$run" || fail "$(cat out err)"
! grep -q SERVER-FIRST out || fail "connected to what is denied: $(cat out err)"
! grep -q '^echo' "$NET/log" || fail "connected to what is denied: $(cat "$NET/log")"
expect 0 "$WARDFS" audit show slow --kind deny
has "$OUT" 'host slow.example'

echo '--- names in what is sent: first noted, then required'
cp "$WARD_SRC/tests/cases/network/lib/reload-names.py" names.py
for sni in log off; do
	rm -f asked stricter
	policy "$HOME/pol" 'mode = allowlist' 'allow = web.example' "sni = $sni"
	"$WARDFS" run --policy "$HOME/pol" --session "names-$sni" -- python3 names.py >out 2>err &
	run=$!
	wait_until 60 test -e asked || fail "not begun: $(cat out err)"
	policy "$HOME/pol" 'mode = allowlist' 'allow = web.example' 'sni = require'
	expect 0 "$WARDFS" policy reload "names-$sni" "$HOME/pol"
	touch stricter
	wait "$run" || fail "$(cat out err)"
	# Of what nobody looked at, nobody knows that it was good.
	want='hello from web.example reset reset'
	[ $sni = log ] || want='reset reset reset'
	[ "$(cat out)" = "hello from web.example hello from other.example
$want" ] || fail "sni = $sni: $(cat out err)"
done
exit 0
S
in_host_both "$WARD_TMP/check.sh"
