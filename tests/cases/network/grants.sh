#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs grant SESSION connect opens a host for a while, as root and as an ordinary user. Its last
# use and its end are exact, also for open connections. A `deny` stays in force, and so do the
# limits on where a name may lead.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$WARD_SRC/tests/cases/network/lib/grants-held.py" held.py
policy "$HOME/pol" 'mode = allowlist' 'allow = echo.example:3000' 'deny = evil.example'
"$WARDFS" run --policy "$HOME/pol" --session g -- sh -c ': >ready; exec sleep 600' >out 2>err &
run=$!
trap '"$WARDFS" kill g >/dev/null 2>&1 || :' EXIT
wait_until 60 test -e ready || fail "not begun: $(cat out err)"
first() { "$WARDFS" exec g -- python3 n.py first "$1" 3000; }
refused_first() { ! first "$1" >first.out 2>&1 && ! grep -q SERVER-FIRST first.out; }
expect 0 first echo.example
[ "$OUT" = SERVER-FIRST ] || fail "control: $OUT $ERR"

echo '--- given, spent'
refused_first a.wild.example || fail "without a grant: $(cat first.out)"
expect 0 "$WARDFS" grant g connect a.wild.example:3000 --uses 1
id=$OUT
expect 0 first a.wild.example
[ "$OUT" = SERVER-FIRST ] || fail "under the grant: $OUT $ERR"
refused_first a.wild.example || fail "its use was spent: $(cat first.out)"
spent() { "$WARDFS" grants g | grep "$id" | grep -q ' 1/1 '; }
wait_until 60 spent || fail "not counted: $("$WARDFS" grants g)"
expect 0 "$WARDFS" revoke "$id"

echo '--- what is connected ends with it'
expect 0 "$WARDFS" grant g connect a.wild.example:3000 --for 1h
id=$OUT
"$WARDFS" exec g -- python3 held.py >held.out 2>&1 &
held=$!
begun() { [ -e held-first ] || gone "$held"; }
wait_until 60 begun
grep -qx 'True True' held.out || fail "control: $(cat held.out)"
expect 0 "$WARDFS" revoke "$id"
closed() { "$WARDFS" audit show g --kind deny | grep -q 'a.wild.example .*the grant for it has ended'; }
wait_until 60 closed || fail "not recorded: $("$WARDFS" audit show g --kind deny)"
: >held-second
wait "$held" || fail "$(cat held.out)"
[ "$(tail -n 1 held.out)" = 'False True' ] || fail "after the end: $(cat held.out)"
refused_first a.wild.example || fail "after the end: $(cat first.out)"

echo '--- by time'
expect 0 "$WARDFS" grant g connect a.wild.example:3000 --for 1s
id=$OUT
gone_by_itself() { ! "$WARDFS" grants g | grep -q "$id"; }
wait_until 60 gone_by_itself || fail "does not end"
refused_first a.wild.example || fail "after its time: $(cat first.out)"

echo '--- what no grant lifts'
expect 1 "$WARDFS" grant g connect evil.example:3000
has "$ERR" "no grant lifts '[network] deny = evil.example'"
expect 0 "$WARDFS" grant g connect private.example:3000
refused_first private.example || fail "a name led to an address that is not public: $(cat first.out)"
expect 0 "$WARDFS" grant g connect alias.example:3000
refused_first alias.example || fail "an alias of what is denied: $(cat first.out)"

expect 0 "$WARDFS" kill g
wait "$run" || :
expect 0 "$WARDFS" audit verify g
expect 0 "$WARDFS" audit show g --kind use
has "$OUT" 'host a.wild.example'
expect 0 "$WARDFS" audit show g --kind expire
has "$OUT" 'result spent'
has "$OUT" 'result expired'
exit 0
S
in_host_both "$WARD_TMP/check.sh"
