#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Break glass: a token of a key that the floor names lifts a named line of [guard], for one session
# and an hour at most. Everybody sees it, and afterwards the guard is in force as before. Each
# attack stands beside a token that differs in this alone and counts.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
trap 'for s in glass plain own tty; do "$WARDFS" kill $s >/dev/null 2>&1 || :; done; wait' EXIT
project p
cd p
for f in .env keep.key vault.db plain; do echo "secret $f" >$f; done
mkdir sub
echo more >sub/.env
for who in ann eve; do "$WARDFS" token key ../$who >../$who.pub; done
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n[guard]\ndeny = .env\ndeny = *.key\n' >../base.policy
floor="[approvals]\\nbreak-glass = $(cat ../ann.pub)\\n[guard]\\ndeny = vault.db"
mkdir ../etc
# with_floor LINES COMMAND...
with_floor() {
	printf '[policy]\nversion = 1\n%b\n' "$1" >../etc/floor.policy
	shift
	unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/wardfs &&
		mount --bind ../etc /mnt/wardfs && mount -t overlay -o lowerdir=/mnt:/etc overlay /etc &&
		mount --bind ../etc /etc/wardfs && exec "$@"' sh "$@"
}
# begin NAME FLOOR: a session to look into, under this floor.
begin() {
	: >../"$1".err
	with_floor "$2" "$WARDFS" run --session "$1" --policy ../base.policy -- sleep 500 2>../"$1".err &
	RUN=$!
	wait_until 60 "$WARDFS" exec "$1" -- true || fail "$1: $(cat ../"$1".err)"
}
# token FILE WHO GUARD OPTION... RIGHT WHAT
token() {
	file=$1 who=$2 guard=$3
	shift 3
	rm -f ../"$file"
	"$WARDFS" token make --key ../"$who" --break-glass "$guard" -o ../"$file" "$@"
}
good() { token "$1" ann 'deny = .env' --session glass --for 5m --reason 'fix the leak' read /workspace/.env; }
present() { "$WARDFS" grant "$1" --token ../"$2"; }
reads() { "$WARDFS" exec glass -- cat "$1"; }

echo '--- what such a token needs'
expect 0 good t
expect 0 "$WARDFS" token show ../t
has "$OUT" 'lifts    deny = .env'
expect 0 python3 "$WARD_SRC/tests/support/grant-token.py" show ../t
has "$OUT" '"lifts": "deny = .env"'
expect 2 token t ann 'deny = .env' --session glass --for 5m read /workspace/.env
has "$ERR" 'needs a reason'
expect 2 token t ann 'deny = .env' --session glass --for 61m --reason x read /workspace/.env
has "$ERR" 'an hour later at most'
expect 2 token t ann 'deny = .env' --project /p --for 5m --reason x read /workspace/.env
has "$ERR" 'paths of one session'
expect 2 token t ann 'deny = .env' --session glass --for 5m --reason x connect example.org
good t
refused 'cannot be narrowed' "$WARDFS" token narrow ../t --for 1m

echo '--- only the floor names the key'
{ cat ../base.policy; printf '[approvals]\nbreak-glass = %s\n' "$(cat ../ann.pub)"; } >../own.policy
expect 2 "$WARDFS" run --session own --policy ../own.policy -- true
has "$ERR" 'only the floor can set break-glass'
cp ../own.policy .wardfs.policy
expect 2 "$WARDFS" run --session own --policy ../base.policy -- true
rm .wardfs.policy
{ cat ../base.policy; printf '[approvals]\napprover = %s\n' "$(cat ../ann.pub)"; } >../new
cp ../base.policy ../kept.policy
cp ../new ../base.policy
begin plain '[limits]\nwall = 2h'
token t ann 'deny = .env' --session plain --for 5m --reason x read /workspace/.env
refused "no '[approvals] break-glass' of the floor names" present plain t
expect 0 "$WARDFS" kill plain
wait $RUN || :
cp ../kept.policy ../base.policy

echo '--- control: without it, the guard refuses, whatever else is granted'
begin glass "$floor"
expect 1 reads .env
has "$ERR" 'Permission denied'
expect 0 reads plain
refused "no grant lifts" "$WARDFS" grant glass read /workspace/.env

echo '--- attacks on the token'
token t eve 'deny = .env' --session glass --for 5m --reason x read /workspace/.env
refused "no '[approvals] break-glass' of the floor names" present glass t
token t ann 'deny = .env' --session other --for 5m --reason x read /workspace/.env
refused 'is for session other' present glass t
token t ann 'deny = .env' --session glass --not-before 2026-01-01T00:00:00Z --until 2026-01-01T00:30:00Z \
	--reason x read /workspace/.env
refused "time is over" present glass t
token t ann 'deny = .envx' --session glass --for 5m --reason x read /workspace/.env
refused "no [guard] of the policy has the line 'deny = .envx'" present glass t
token t ann 'deny = vault.db' --session glass --for 5m --reason x read /workspace/vault.db
refused "or the floor has it, which nothing lifts" present glass t
token t ann 'deny = *.key' --session glass --for 5m --reason x read /workspace/.env
refused "no grant lifts" present glass t
good t
sed 's/^block \(.\)/block x\1/' ../t >../changed
expect 1 "$WARDFS" grant glass --token ../changed
expect 1 reads .env

echo '--- it lifts what it names, and nothing else; everybody sees it'
token t ann 'deny = .env' --session glass --for 20s --reason 'fix the leak' write /workspace
expect 0 present glass t
id=$OUT
expect 0 reads .env
has "$OUT" 'secret .env'
expect 0 reads sub/.env
for f in keep.key vault.db; do expect 1 reads $f; done
wait_until 30 grep -q "BREAK GLASS: grant $id lifts \[guard\] deny = .env for /workspace until .*fix the leak" ../glass.err ||
	fail "$(cat ../glass.err)"
expect 0 "$WARDFS" ps
has "$OUT" "BREAK GLASS $id lifts deny = .env for /workspace"
expect 0 "$WARDFS" top --once
has "$OUT" "BREAK GLASS $id lifts deny = .env"
expect 0 "$WARDFS" grants glass
has "$OUT" "$id"
# The name does not leave the guard: neither as a new name of the file, nor as a second one.
for call in rename link; do
	expect 1 "$WARDFS" exec glass -- python3 -c "import os; os.$call('.env', 'out')"
	has "$ERR" 'Invalid cross-device link'
done
expect 0 "$WARDFS" exec glass -- sh -c 'echo new >.env'
[ "$(cat .env)" = new ] || fail "it was not written"
# The open file goes with the grant.
"$WARDFS" exec glass -- python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/break-glass-reader.py")" >../reader 2>&1 &
reader=$!
wait_until 60 grep -q 'break glass is over' ../glass.err || fail "$(cat ../glass.err)"
wait $reader || fail "$(cat ../reader)"
grep -q over ../reader || fail "$(cat ../reader)"
expect 1 reads .env
has "$ERR" 'Permission denied'
expect 0 "$WARDFS" ps
hasnt "$OUT" 'BREAK GLASS'

echo '--- once: a replay undoes neither its end nor wardfs revoke'
refused "time is over" present glass t
good t
expect 0 present glass t
id=$OUT
expect 0 reads .env
expect 0 "$WARDFS" revoke "$id"
expect 1 reads .env
refused 'was presented before' present glass t
expect 1 reads .env

echo '--- a reload keeps it, and the policy of the owner cannot make a key'
good t
expect 0 present glass t
expect 0 "$WARDFS" policy reload glass ../base.policy
expect 0 reads .env
expect 2 "$WARDFS" policy reload glass ../own.policy
expect 0 "$WARDFS" kill glass
wait $RUN || :

echo '--- the trail: both verifiers, approvals, report'
expect 0 "$WARDFS" audit verify glass
expect 0 "$WARDFS" audit approvals glass
has "$OUT" 'BREAK GLASS lifts [guard] deny = .env'
has "$OUT" 'by break-glass, key '
has "$OUT" 'fix the leak'
expect 0 "$WARDFS" audit report glass --format md
has "$OUT" 'BREAK GLASS lifts [guard] deny = .env'
expect 0 "$WARDFS" audit show --json --kind grant glass
has "$OUT" '"how":"break-glass"'
hasnt "$OUT" "$(tail -1 ../t | cut -d' ' -f2)"

echo '--- by the token of a run, and what a terminal of the command could not show'
token t ann 'deny = .env' --session tty --for 5m --reason 'from the start' read /workspace/.env
with_floor "$floor" script -qec "'$WARDFS' run --session tty --policy ../base.policy --token ../t -- cat .env" /dev/null >../tty.out </dev/null
grep -q 'new' ../tty.out || fail "$(cat ../tty.out)"
grep -q 'BREAK GLASS: grant .*from the start' ../tty.out || fail "$(cat ../tty.out)"
expect 0 "$WARDFS" audit verify tty
