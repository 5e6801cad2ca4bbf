#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prepared sessions ([session] warm): who may take one, what one run leaves for the next, what
# happens when a process of it is killed or stopped while it waits, and when two take at once.
# serial
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/prepared.sh"
[ "$(id -u)" = 0 ] || skip "needs root: another user"
chmod 755 "$WARD_TMP"
project p
cd p || exit 1
trap drain EXIT
warm_policy 1
ASK="$WARD_SRC/tests/cases/run/lib/prepared-ask.py"
SOCKETS=$XDG_RUNTIME_DIR/wardfs

echo "--- another user, and with the directories open to them"
fill
refused "" setpriv --reuid=4711 --regid=4711 --clear-groups python3 "$ASK" "$SOCKETS/$MEMBER/control" hang-up
chmod 711 "$XDG_RUNTIME_DIR" "$SOCKETS" "$SOCKETS/$MEMBER"
chmod 777 "$SOCKETS/$MEMBER/control"
got=$(setpriv --reuid=4711 --regid=4711 --clear-groups python3 "$ASK" "$SOCKETS/$MEMBER/control" hang-up 2>&1) || :
case $got in
*ready* | *prepared\ for*) fail "answered another user: $got" ;;
esac
has "$got" "hung up"
# The control: the same words of the owner are answered.
got=$(python3 "$ASK" "$SOCKETS/$MEMBER/control" hang-up) || :
has "$got" "prepared for another run"
chmod 700 "$XDG_RUNTIME_DIR" "$SOCKETS" "$SOCKETS/$MEMBER"

echo "--- the command inside: neither the socket nor the list is there"
run_in -- sh -c "ls -a '$PLACE' '$SOCKETS' 2>&1; ls /run; cat /proc/net/unix | grep -c wardfs"
hasnt "$OUT" "$MEMBER"
hasnt "$OUT" control
taken "$MEMBER" || fail "control: not taken"
# The control: outside both are there.
wait_until 120 waits 1 || fail "none"
ls "$SOCKETS/$(waiting)/control" >/dev/null || fail "control: no socket"
# In mode process the command sees the host's files, and the supervisor refuses it by its namespace.
wait_until 120 waits 1
s=$(waiting)
got=$("$WARDFS" run --mode process -- python3 "$ASK" "$SOCKETS/$s/control" hang-up </dev/null 2>&1) || :
case $got in
*ready* | *prepared\ for*) fail "answered a process of a session: $got" ;;
esac
drain

echo "--- nothing of one run in the next"
fill
mark=9$$3
run_in -e CARRIED=over -- sh -c 'cd /tmp && echo x >/tmp/left; echo x >"$HOME/left"; echo x >/dev/shm/left
	echo x >/run/left 2>/dev/null; setsid sleep '"$mark"' >/dev/null 2>&1 &
	python3 -c "import socket,os,time
s=socket.socket(socket.AF_UNIX); s.bind(\"\0ward-carried\"); s.listen()
if os.fork(): os._exit(0)
os.setsid(); time.sleep('"$mark"')" 2>/dev/null >/dev/null
	hostname; cat /proc/sys/kernel/random/boot_id >/dev/null; ipcmk -M 4096 >/dev/null 2>&1; echo ok'
has "$OUT" ok
taken "$MEMBER" || fail "control: not taken"
wait_until 60 ended "$mark" || fail "it goes on"
# Nor is what was said with --env in the command line of who prepares the next one.
wait_until 120 waits 1 || fail "none for the second"
hasnt "$(ps ax -o args | grep prepare=)" CARRIED
wait_until 120 waits 1 || fail "none for the second"
s=$(waiting)
run_in -- sh -c 'ls -A /tmp "$HOME" /dev/shm /run; echo "[$CARRIED]"; ps ax -o args; ipcs -m; cat /proc/net/unix; id'
taken "$s" || fail "the second was not taken"
hasnt "$OUT" left
hasnt "$OUT" over
hasnt "$OUT" "$mark"
hasnt "$OUT" ward-carried
# The controls: within one run all of that is seen.
wait_until 120 waits 1 || fail "none for the control"
run_in -e CARRIED=over -- sh -c 'echo x >/tmp/left; echo x >"$HOME/left"; sleep '"$mark"' & python3 -c "import socket,os
s=socket.socket(socket.AF_UNIX); s.bind(\"\0ward-carried\"); s.listen(); os.system(\"cat /proc/net/unix\")"
	ls -A /tmp "$HOME"; echo "[$CARRIED]"; ps ax -o args'
for seen in left over "sleep $mark" ward-carried; do
	has "$OUT" "$seen"
done
# Neither are the namespaces: beside one that was taken and goes on. (Numbers come back after it.)
wait_until 120 waits 1 || fail "none"
s=$(waiting)
"$WARDFS" run -- sleep "$mark" </dev/null &
client=$!
wait_until 60 running "$mark" || fail "it does not run"
wait_until 60 taken "$s" || fail "the one beside was not taken"
init=$(status_of "$s" init_pid)
wait_until 120 waits 1 || fail "none beside"
run_in -- sh -c 'for n in pid net ipc mnt uts user; do readlink /proc/self/ns/$n; done'
for n in pid net ipc mnt uts user; do
	[ -n "$(readlink "/proc/$init/ns/$n")" ] || fail "control: no $n"
	hasnt "$OUT" "$(readlink "/proc/$init/ns/$n")"
done
kill -TERM $client
wait $client || :

echo "--- kill -9 of each process while it waits: the next run starts another session"
for who in pid init_pid fs_pid audit_pid; do
	fill
	dead=$(status_of "$MEMBER" $who)
	[ -n "$dead" ] || fail "no $who"
	kill -KILL "$dead"
	wait_until 60 gone "$dead" || fail "$who: not dead"
	run_in -- echo fine
	[ "$GOT" = 0 ] && [ "$OUT" = fine ] || fail "$who: $GOT $ERR"
	! taken "$MEMBER" || fail "$who: a dead session was taken"
	wait_until 120 sh -c '! "$WARDFS" ps 2>/dev/null | grep -q "$1"' - "$MEMBER" || fail "$who: it is still there"
	wait_until 120 sh -c '"$WARDFS" audit verify "$1" >/dev/null 2>&1 || [ $? = 1 ]' - "$MEMBER" || fail "$who: verify"
done

echo "--- one that is stopped costs a moment, and never runs the command a second time"
for who in pid init_pid; do
	fill
	held=$(status_of "$MEMBER" $who)
	kill -STOP "$held"
	rm -f count
	if [ $who = pid ]; then
		expect 0 timeout 120 "$WARDFS" run -v -- sh -c 'echo once >>count' </dev/null
		has "$ERR" "does not answer"
		kill -CONT "$held"
		sleep 1
	else
		# pid 1 has the command already: it goes on when it may, as with any other run.
		"$WARDFS" run -- sh -c 'echo once >>count' </dev/null &
		client=$!
		sleep 1
		kill -CONT "$held"
		wait $client || fail "a session whose pid 1 was stopped: $?"
	fi
	[ "$(wc -l <count)" = 1 ] || fail "$who: ran $(wc -l <count) times"
	[ $who != pid ] || ! taken "$MEMBER" || fail "it was taken after all"
	wait_until 120 no_preparer
	drain
done

echo "--- two at once: one takes it, both run"
for i in 1 2 3 4 5; do
	fill
	"$WARDFS" run -- echo one </dev/null >../one 2>&1 &
	a=$!
	"$WARDFS" run -- echo two </dev/null >../two 2>&1 &
	b=$!
	wait $a || fail "one: $(cat ../one)"
	wait $b || fail "two: $(cat ../two)"
	[ "$(cat ../one ../two)" = "one
two" ] || fail "$i: $(cat ../one ../two)"
	[ "$("$WARDFS" audit show --json --kind take "$MEMBER" | grep -c '"kind":"take"')" = 1 ] || fail "$i: not one take"
	wait_until 120 no_preparer
done

echo "--- a client that claims and is silent, or hangs up, or sends what no client sends"
fill
# Whoever has the key is the user: read where that user's debugger would.
command -v strace >/dev/null || skip "no strace for the rest"
wait_until 120 waits 1
strace -s 200 -e trace=sendmsg -o ../trace "$WARDFS" run -- true </dev/null
key=$(sed -n 's/.*\\"key\\":\\"\([0-9a-f]*\)\\".*/\1/p' ../trace | head -n 1)
[ ${#key} = 64 ] || fail "no key in the trace"
wait_until 120 waits 1 || fail "none"
s=$(waiting)
got=$(python3 "$ASK" "$SOCKETS/$s/control" hang-up "$key")
has "$got" ready
run_in -- echo after
[ "$OUT" = after ] || fail "$ERR"
taken "$s" || fail "one that was let go of is not taken"
for what in no-fds few nonsense unsealed directory; do
	wait_until 120 waits 1 || fail "none for $what"
	s=$(waiting)
	python3 "$ASK" "$SOCKETS/$s/control" $what "$key" >../asked 2>&1 || fail "$what: $(cat ../asked)"
	has "$(cat ../asked)" "hung up"
	! taken "$s" || fail "$what was taken"
	run_in -- echo after
	[ "$OUT" = after ] || fail "$what: $ERR"
	wait_until 120 waits 1 || fail "none after $what"
done
s=$(waiting)
mkfifo ../hold
python3 "$ASK" "$SOCKETS/$s/control" hold "$key" <../hold >../asked &
exec 9>../hold
wait_until 60 grep -q ready ../asked || fail "not claimed"
expect 0 timeout 120 "$WARDFS" run -- echo beside </dev/null
[ "$OUT" = beside ] || fail "$OUT"
! taken "$s" || fail "taken from under its client"
exec 9>&-
