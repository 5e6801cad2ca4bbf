#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [session] warm: a run takes a session that was prepared, and is as any other one: output, exit
# status, directory, environment, trail. Fresh each time, one run each, a bounded number.
# serial
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/prepared.sh"
project p
cd p || exit 1
mkdir sub
trap drain EXIT

echo "--- the control: without the key nothing is prepared, and nothing is said"
expect 0 "$WARDFS" run -v -- true
hasnt "$ERR" prepared
[ ! -d "$PLACE" ] || waits 0 || fail "prepared without the key"

echo "--- taken, and named in the trail"
warm_policy 1
fill
first=$MEMBER
expect 0 "$WARDFS" ps
has "$OUT" "$first"
has "$OUT" "prepared: waits for a run"
expect 0 "$WARDFS" run --dry-run -- true
has "$OUT" "1 of 1 waits for this run"
expect 0 "$WARDFS" doctor
has "$OUT" "1 session of this user waits, at most 8"
run_in --label task=t1 -e GIVEN=given -- sh -c 'echo "$WARDFS_SESSION $GIVEN"; echo wrong >&2; exit 7'
[ "$GOT" = 7 ] || fail "status $GOT"
[ "$OUT" = "$first given" ] || fail "$OUT"
[ "$ERR" = wrong ] || fail "said $ERR"
taken "$first" || fail "no take in the trail"
expect 0 "$WARDFS" audit show --json --kind take "$first"
has "$OUT" '"argv":["sh","-c"'
has "$OUT" '"env":["GIVEN"]'
has "$OUT" '"labels":{"task":"t1"}'
has "$OUT" "\"cwd\":\"$PWD\""
hasnt "$OUT" '=given'
expect 0 "$WARDFS" audit show --json --kind session.start "$first"
has "$OUT" '"prepared":true'
hasnt "$OUT" '"argv"'
wait_until 120 "$WARDFS" audit verify "$first" || fail "$("$WARDFS" audit verify "$first")"
for index in "" --no-index; do
	expect 0 "$WARDFS" audit list $index --label task=t1
	has "$OUT" "$first"
	has "$OUT" "sh -c"
	[ "$(echo "$OUT" | grep -c '^20')" = 1 ] || fail "$OUT"
	expect 0 "$WARDFS" audit list $index --label task=t2
	hasnt "$OUT" "$first"
done
expect 0 "$WARDFS" audit summary "$first"
has "$OUT" "sh -c"
has "$OUT" "task=t1"
expect 0 "$WARDFS" audit report "$first"
has "$OUT" "sh -c"

echo "--- another one is prepared, and nothing of it holds our pipe"
wait_until 120 waits 1 || fail "no replacement"
second=$(waiting)
[ "$second" != "$first" ] || fail "the same once more"
expect 0 timeout 60 sh -c '"$WARDFS" run -- echo through 2>&1 </dev/null | cat'
has "$OUT" through
taken "$second" || fail "the second was not taken"

echo "--- as any other run: statuses, input, directories, refusals"
for what in "127 no-such-program" "126 ./plain" "137 sh:-c:kill -9 \$\$" "0 true"; do
	wait_until 120 waits 1 || fail "none for $what"
	echo x >plain
	s=$(waiting)
	OLDIFS=$IFS
	IFS=:
	# shellcheck disable=SC2086
	run_in -- ${what#* }
	IFS=$OLDIFS
	[ "$GOT" = "${what%% *}" ] || fail "$what: $GOT $ERR"
	taken "$s" || fail "not taken: $what"
	said=$ERR
	# The control: what a session that was not prepared says and answers.
	OLDIFS=$IFS
	IFS=:
	# shellcheck disable=SC2086
	run_in --session "cold-${what%% *}" -- ${what#* }
	IFS=$OLDIFS
	[ "$GOT" = "${what%% *}" ] && [ "$ERR" = "$said" ] || fail "$what: '$said', but '$ERR'"
done
wait_until 120 waits 1 || fail "none for cat"
s=$(waiting)
[ "$(echo in | "$WARDFS" run -- cat)" = in ] || fail "no input through a pipe"
taken "$s" || fail "cat"
wait_until 120 waits 1 || fail "none for a file"
s=$(waiting)
echo of-a-file >input
"$WARDFS" run -- sh -c 'cat; pwd; pwd >&2' <input >output 2>errors
[ "$(cat output)" = "of-a-file
$PWD" ] || fail "$(cat output)"
[ "$(cat errors)" = "$PWD" ] || fail "$(cat errors)"
taken "$s" || fail "files"
cd sub
wait_until 120 waits 1 || fail "none for a directory beneath"
s=$(waiting)
run_in -- pwd
[ "$OUT" = "$PWD" ] || fail "$OUT"
cd ..
taken "$s" || fail "the directory beneath"
wait_until 120 waits 1 || fail "none for a refusal"
s=$(waiting)
run_in -- sh -c 'echo x >.git/hooks/pre-commit'
[ "$GOT" != 0 ] || fail "the guard does not hold"
has "$ERR" "wardfs audit denials $s"
taken "$s" || fail "refused"
[ ! -e .git/hooks/pre-commit ] || fail "written"

echo "--- signals reach the command; without its client the session ends"
wait_until 120 waits 1 || fail "none for a signal"
s=$(waiting)
mark=9$$7
"$WARDFS" run -- sh -c "trap 'exit 9' TERM; echo begun; while :; do sleep $mark & wait; done" </dev/null >out 2>/dev/null &
client=$!
wait_until 120 grep -q begun out || fail "did not begin"
kill -TERM $client
got=0
wait $client || got=$?
[ $got = 143 ] || fail "after SIGTERM: $got"
wait_until 60 ended "$mark" || fail "it goes on"
taken "$s" || fail "signalled"
wait_until 120 waits 1 || fail "none for a dead client"
"$WARDFS" run -- sh -c "echo begun; sleep $mark" </dev/null >out 2>/dev/null &
client=$!
wait_until 120 grep -q begun out || fail "did not begin"
wait_until 60 running "$mark" || fail "control: nothing runs"
kill -KILL $client
wait_until 60 ended "$mark" || fail "it outlived its client"

echo "--- the project as it is when it is taken"
wait_until 120 waits 1 || fail "none for the project"
s=$(waiting)
printf '#!/bin/sh\n' >.envrc
run_in -- sh -c 'true'
hasnt "$ERR" .envrc
taken "$s" || fail "project"

echo "--- what does not take one, and why"
for o in "--session named" "--keep" "--status-fd 3"; do
	wait_until 120 waits 1 || fail "none for $o"
	# shellcheck disable=SC2086
	"$WARDFS" run -v $o -- true </dev/null 3>/dev/null >../out 2>../err || fail "$o: $(cat ../err)"
	has "$(cat ../err)" "does not take a prepared session: ${o%% *}"
	"$WARDFS" kill latest >/dev/null 2>&1 || :
	waits 1 || fail "$o took one"
done
wait_until 120 no_preparer || fail "it goes on preparing"

echo "--- a bounded number; the project file only lowers it"
drain
warm_policy 2
for i in 1 2 3 4; do
	"$WARDFS" run --hide "none-$i" -- true </dev/null
	"$WARDFS" run --hide "none-$i" -- true </dev/null
done
wait_until 120 no_preparer || fail "still preparing"
n=$(waiting | wc -l)
[ "$n" -le 8 ] && [ "$n" -ge 4 ] || fail "$n wait"
drain
printf '[session]\nwarm = 0\n' >.wardfs.policy
printf '[policy]\nversion = 1\n[session]\nwarm = 0\n' >.wardfs.policy
expect 0 "$WARDFS" run -v -- true
hasnt "$ERR" prepared
printf '[policy]\nversion = 1\n[session]\nwarm = 8\n' >.wardfs.policy
warm_policy 0
expect 0 "$WARDFS" run -v -- true
hasnt "$ERR" prepared
wait_until 120 no_preparer
waits 0 || fail "the project file raised it"
rm .wardfs.policy

echo "--- one that nobody takes ends by itself, and says so"
warm_policy 1 "warm-for = 2s"
fill
s=$MEMBER
wait_until 60 waits 0 || fail "it waits on"
wait_until 120 "$WARDFS" audit verify "$s" || fail "$("$WARDFS" audit verify "$s")"
expect 0 "$WARDFS" audit show --json --kind session.end "$s"
has "$OUT" "prepared, and never taken"
for index in "" --no-index; do
	expect 0 "$WARDFS" audit list $index
	echo "$OUT" | grep "$s" | grep -q "(prepared, never taken)" || fail "$OUT"
done
expect 0 "$WARDFS" audit verify --all
python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" >theirs ||
	fail "verify.py: $(cat theirs)"
