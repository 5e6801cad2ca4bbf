#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [audit] exec records the first program of a session, and what `wardfs exec` starts, for an
# ordinary user as for root, although the supervisor cannot read the process that executes it.
# That process describes the program in a table, and no process inside can reach the table.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
lib=$WARD_SRC/tests/cases/audit/lib
cp "$lib/exec-first-inside.py" "$WARD_TMP"
chmod 755 "$WARD_TMP"

cat >"$WARD_TMP/sessions" <<'EOS'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project p
cd p
cp "$1" look.py
printf '#!/bin/sh\nexit 0\n' >script
mkdir sub
cp script sub/other
chmod 755 script sub/other
policy='[policy]\nversion = 1\nextends = medium\n[audit]\nexec = yes\n'
printf "$policy" >../policy
printf "$policy[process]\nexec = /usr/bin/true\n" >../listed
long=$(head -c 9000 /dev/zero | tr '\0' a)

# session NAME OPTION... -- CMD: one that runs CMD, with any status
session() {
	name=$1
	shift
	"$WARDFS" run --session "$name" "$@" >"../$name.out" 2>"../$name.err" || :
	"$WARDFS" audit verify "$name" >../verdict || fail "$name: $(cat ../verdict "../$name.err")"
	"$WARDFS" audit show --json "$name" >"../$name.json"
}
session first --policy ../policy -- sh -c '/bin/true "$@"' sh one '' "two
words"
session name --policy ../policy -- true
session relative --policy ../policy -- ./script
session beneath --policy ../policy -- sub/other
session long --policy ../policy -- true "$long" behind
session many --policy ../policy -- true $(seq 600)
session listed --policy ../listed -- true
session unlisted --policy ../listed -- /bin/echo no

# Of a session that runs: three, two of them side by side, and names that do not exist.
touch hold
"$WARDFS" run --policy ../policy --session held -- sh -c ': >up; i=0
	while [ -e hold ] && [ $i -lt 1200 ]; do sleep 0.1; i=$((i + 1)); done' 2>../held.err &
run=$!
trap 'rm -f hold; kill $run 2>/dev/null || :' EXIT
wait_until 60 test -e up || fail "not started: $(cat ../held.err)"
expect 0 "$WARDFS" exec --cwd "$PWD/sub" held -- ./other alone
"$WARDFS" exec held -- /bin/echo left >../left &
left=$!
"$WARDFS" exec held -- env printf right >../right &
right=$!
wait $left || fail "exec: left"
wait $right || fail "exec: right"
[ "$(cat ../left)-$(cat ../right)" = left-right ] || fail "exec: $(cat ../left ../right)"
expect 127 "$WARDFS" exec held -- /nowhere/at-all
# Root looks meanwhile at who has the table.
status_of held pid >../supervisor
status_of held init_pid >../init
: >../ready
i=0
until [ -e ../looked ] || [ $i = 1200 ]; do sleep 0.1; i=$((i + 1)); done
expect 0 "$WARDFS" exec held -- python3 look.py others
cp "$WARD_TMP/.out" ../others
rm hold
wait $run || fail "held: $(cat ../held.err)"
"$WARDFS" audit verify held >../verdict || fail "held: $(cat ../verdict)"
"$WARDFS" audit show --json held >../held.json

# From inside; and a program that closes its memory is read all the same.
session inside --policy ../policy -- python3 look.py inside
session closed --policy ../policy -- python3 look.py closed
EOS

# tables PID: which of PID and its children have the table mapped ("map PID") or open ("fd PID")
tables() {
	for p in "$1" $(cat "/proc/$1/task/$1/children"); do
		! grep -q wardfs-execs "/proc/$p/maps" || echo "map $p"
		! find "/proc/$p/fd" -lname '*wardfs-execs*' 2>/dev/null | grep -q . || echo "fd $p"
	done
}

ready_or_gone() {
	[ -e "$home/ready" ] || gone $work
}

# look HOME: looks from outside, once a session is there or its sessions have failed
look() {
	home=$1
	wait_until 300 ready_or_gone || fail "no session to look at in $home"
	[ -e "$home/ready" ] || fail "the sessions in $home"
	tables "$(cat "$home/supervisor")" >"$home/tables"
	tables "$(cat "$home/init")" >>"$home/tables"
	: >"$home/looked"
}

work=
trap '[ -z "$work" ] || kill "$work" 2>/dev/null || :' EXIT
mkdir "$WARD_TMP/root"
(cd "$WARD_TMP/root" && HOME=$PWD XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config \
	sh "$WARD_TMP/sessions" "$WARD_TMP/exec-first-inside.py") &
work=$!
look "$WARD_TMP/root"
wait $work || fail "as root"
(as_user "$WARD_TMP/sessions" "$WARD_TMP/exec-first-inside.py") &
work=$!
look "$WARD_TMP/home"
wait $work || fail "as an ordinary user"

[ ! -s "$WARD_TMP/root/tables" ] || fail "root needs no table: $(cat "$WARD_TMP/root/tables")"
# The supervisor and the starter, and nobody holds the descriptor.
starter=$(awk '$1 == "map" { print $2 }' "$WARD_TMP/home/tables" | sed -n 2p)
[ "$(grep -c '^map ' "$WARD_TMP/home/tables")" = 2 ] && [ -n "$starter" ] &&
	! grep -q '^fd ' "$WARD_TMP/home/tables" &&
	grep -qx "map $(cat "$WARD_TMP/home/supervisor")" "$WARD_TMP/home/tables" &&
	! grep -qx "map $(cat "$WARD_TMP/home/init")" "$WARD_TMP/home/tables" ||
	fail "the table: $(cat "$WARD_TMP/home/tables")"
for who in root home; do
	for file in others inside.out; do
		[ "$(cat "$WARD_TMP/$who/$file")" = "control found
nothing" ] || fail "$who: $file: $(cat "$WARD_TMP/$who/$file")"
	done
done
python3 "$lib/exec-first-records.py" "$WARD_TMP/root" "$WARD_TMP/home" || fail "the records"
