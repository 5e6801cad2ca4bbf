#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy add` writes a rule where it decides, or nothing at all.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

mkdir project
cd project
git init -q .
explain() {
	"$WARDFS" policy explain "$@" >/dev/null
}

explain write src/a || fail "control: medium lets it be written"
"$WARDFS" policy add read /workspace/src >out || fail "$(cat out)"
grep -q '^  now *stat,list,read,exec$' out || fail "$(cat out)"
! explain write src/a || fail "the rule does not decide"
"$WARDFS" policy add write /workspace/src/gen >out
explain write src/gen/a || fail "the later rule does not decide"
"$WARDFS" policy add --guard deny '*.secret' >out
! explain read x.secret || fail "the guard does not hold"
grep -q '^  /workspace/\*\.secret: -' out || fail "what it changes is not told: $(cat out)"
"$WARDFS" policy add write '/workspace/**/y.secret' >out 2>&1
! grep -q "too wide" out || fail "it is not: $(cat out)"
! explain read y.secret || fail "a guard was lifted"
grep -q 'no path gains or loses a right' out || fail "a rule without effect: $(cat out)"
"$WARDFS" policy add deny /workspace/late >out
! explain read late || fail "not in [files]"
! explain read .env || fail "medium is no longer extended"
echo "--- of a file, which has nothing beneath it, its rights are told alone"
mkdir certs
echo x >certs/test.pem
"$WARDFS" policy add read /workspace/certs/test.pem >out
grep -q '^  before *stat,list$' out && grep -q '^  now *stat,list,read,exec$' out || fail "$(cat out)"
[ "$(wc -l <out)" -eq 3 ] || fail "$(cat out)"
"$WARDFS" policy add read /workspace/certs/none.pem >out
grep -q '^  /workspace/certs/none.pem: +read,exec$' out || fail "control: $(cat out)"
echo "--- all paths are compared, also where somebody is asked"
"$WARDFS" policy add ask /workspace/asked >out
grep -q 'no path gains or loses a right' out || fail "control: $(cat out)"
! grep -q "too many rules" out || fail "$(cat out)"
echo "--- what is too wide is added, and said"
"$WARDFS" policy add write /workspace >out 2>&1
grep -q "^wardfs: .*policy:[0-9]*: .files. write = /workspace: too wide" out || fail "$(cat out)"
echo "--- a host: with a network where there was none"
! explain connect web.example:443 || fail "control: medium allows no host"
"$WARDFS" policy add allow web.example:443 >out 2>&1
! grep -q wildcard out || fail "$(cat out)"
explain connect web.example:443 || fail "the host is not allowed"
! explain connect other.example:443 || fail "another one is"
"$WARDFS" policy add allow '*' >out 2>&1
grep -q "a wildcard allows hosts that nobody looked at" out || fail "$(cat out)"

file=$(find "$HOME" "$XDG_CONFIG_HOME" -name '*.policy' | sort -u)
[ -f "$file" ] || fail "not one file: $file"
[ "$(stat -c %a "$file")" = 600 ] || fail "others may read it"
"$WARDFS" policy check >/dev/null || fail "check"
[ "$(grep -c 'mode = allowlist' "$file")" -eq 1 ] || fail "$(cat "$file")"

before=$(cksum "$file")
for bad in "hid x" "read a**b" "guard x" "write "; do
	code=0
	# shellcheck disable=SC2086 # words
	"$WARDFS" policy add $bad >out 2>&1 || code=$?
	[ $code -eq 2 ] || fail "$bad: exit status $code"
done
code=0
"$WARDFS" policy add --guard write x >out 2>&1 || code=$?
[ $code -eq 2 ] || fail "a guard that grants: $code"
code=0
"$WARDFS" policy add --guard allow web.example >out 2>&1 || code=$?
[ $code -eq 2 ] || fail "a guard that allows: $code"
code=0
"$WARDFS" policy add read "x
write = /" >out 2>&1 || code=$?
[ $code -eq 2 ] || fail "two lines: $code"
[ "$before" = "$(cksum "$file")" ] || fail "a refused rule was written"
[ "$(find "$(dirname "$file")" -type f | wc -l)" -eq 1 ] || fail "something was left behind"
