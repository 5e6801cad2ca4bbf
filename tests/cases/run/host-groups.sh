#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-hostd --groups under its own uid (4714) makes control groups for sessions of an ordinary
# user (4711): what it takes of a client that is hostile, what holds in a session, and what is left
# when a client, a session or the service is killed.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
SOCKET=/run/wardfs-host/groups
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside # /run of its own
fi
grep -q ' - cgroup' /proc/self/mountinfo || skip "no control groups are mounted"

mount -t tmpfs -o mode=755 tmpfs /run
mknod /run/fuse c 10 229
chmod 666 /run/fuse
mount --bind /run/fuse /dev/fuse
mkdir -p /run/wardfs-host /run/home/p
chmod 755 "$WARD_TMP"
chown 4711:4711 /run/home /run/home/p
HOME=/run/home
export HOME
unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
service=
others=
# shellcheck disable=SC2086
trap 'kill -KILL $service $others 2>/dev/null || :' EXIT
client=$WARD_SRC/tests/support/groupclient.py

# owner COMMAND...: as the ordinary user, in its project
owner() {
	(cd "$HOME/p" && exec setpriv --reuid=4711 --regid=4711 --clear-groups --inh-caps=-all "$@")
}

# service: starts it as its unit does; its pid is $service
service() {
	caps=+dac_override,+setuid,+kill
	rm -f "$SOCKET"
	python3 "$WARD_SRC/tests/support/activate.py" "$SOCKET" 0 /usr/bin/setpriv --reuid=4714 \
		--regid=4714 --clear-groups --inh-caps=-all,$caps --ambient-caps=-all,$caps \
		"$WARD_BUILD/wardfs-hostd" --groups --sessions 16 --memory 1G --processes 1000 \
		2>>service.err &
	service=$!
	wait_until 60 test -S "$SOCKET" || fail "the service does not start: $(cat service.err)"
}

# keepers: the processes of the service that have a session each
keepers() {
	cat "/proc/$service/task/$service/children"
}

# left: the groups of sessions that are there
left() {
	find /sys/fs/cgroup -mindepth 3 -path '*/wardfs-host/4711/*' -type d 2>/dev/null
}
none_left() {
	[ -z "$(left)" ]
}

# hold FILE: a client that has groups, two processes in them, and waits: its numbers are in FILE
hold() {
	owner /usr/bin/python3 "$client" "$SOCKET" hold >"$1" 2>&1 &
	wait_until 60 grep -q / "$1" || fail "no groups: $(cat "$1")"
	read -r holder inside beside group <"$1"
	others="$others $holder $inside $beside"
}
no_process() {
	! kill -0 "$1" 2>/dev/null
}

# session LINES COMMAND...: under these limits alone, in mode $mode, if that is not empty; its
# supervisor's pid is in $HOME/pid
mode=
session() {
	printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n[limits]\n%b\n' "$1" \
		>"$HOME/own.policy"
	shift
	owner sh -c 'echo $$ >../pid; exec "$@"' sh "$WARDFS" run ${mode:+--mode "$mode"} \
		--policy ../own.policy -- "$@"
}

echo "--- without it"
session 'processes = 50' true || fail "control: a session without such a limit"
expect 125 session 'memory = 64M' touch started
has "$ERR" "cannot enforce [limits] memory = 64M"
hasnt "$ERR" "wardfs-hostd"
[ ! -e "$HOME/p/started" ] || fail "it ran without its limit"
owner "$WARDFS" doctor >doctor 2>&1 || :
has "$(cat doctor)" "wardfs-host-groups.socket"
hasnt "$(cat doctor)" "made by wardfs-hostd"

echo "--- what it takes of a client of its own"
service
setpriv --reuid=4712 --regid=4712 --clear-groups sleep 600 &
others="$others $!"
owner /usr/bin/python3 "$client" "$SOCKET" $! >got 2>&1 || fail "$(cat got service.err)"
cat >want <<'END'
before it has groups: closed
groups: ok
an own process: ok
which is inside: True
a helper: ok
which is beside: True
another user's process: EPERM
root's process: EPERM
they are where they were: True
a process that has ended: ESRCH
whose number is free: ESRCH
a file of that name: EBADF
a pipe: EBADF
/proc/PID: EBADF
a second session: ok
which takes it from the first: EPERM
the first, once more: ok
which is beside now: True
a client that is inside: groups: closed
limits: ok
memory: 67108864
processes: 22
writing memory limit: EACCES
writing inside/pids.max: EACCES
writing cgroup.procs: EACCES
writing inside/cgroup.procs: EACCES
writing guard/cgroup.procs: EACCES
a group inside: EACCES
removing it: EACCES
changing the mode: EPERM
what is above: EACCES
more, asked again: closed
more memory than the host gives: EDQUOT
more processes than the host gives: EDQUOT
more CPUs than the host gives: EDQUOT
all that it gives: ok
a name behind: closed
nonsense, too short: closed
nonsense, another version: closed
nonsense, another type: closed
nonsense, no limits: closed
nonsense, two replayers: closed
nonsense, no process: closed
nonsense, another place: closed
sessions: 16
one more: closed
one less: ok
END
diff want got || fail "the service is not as strict as that: $(cat service.err)"
wait_until 60 none_left || fail "groups stay: $(left)"
rm -f "$HOME/p/pidfd:[1]"

echo "--- a client that is stopped, and one that is killed"
hold first
kill -STOP "$holder"
stopped=$holder
first=$inside
hold second
kill -KILL "$holder"
wait_until 60 no_process "$inside" || fail "a process of a client that was killed goes on"
[ -d "$group" ] && wait_until 60 test ! -d "$group" || fail "its group stays: $group"
! no_process "$first" || fail "the process of another session was ended"
kill -KILL "$stopped"
wait_until 60 no_process "$first" || fail "a process of a stopped client goes on"
wait_until 60 none_left || fail "groups stay: $(left)"

echo "--- a session has its limits"
session 'memory = 200M\nprocesses = 50\ncpus = 0.5' sh -c 'echo held >made' || fail "no session"
[ "$(cat "$HOME/p/made")" = held ] || fail "it did not write"
owner "$WARDFS" audit show -v latest >shown
has "$(cat shown)" "/wardfs-host/4711/"
hog='x = bytearray(300 << 20); print(len(x))'
expect 0 session 'memory = 900M' /usr/bin/python3 -c "$hog"
expect 137 session 'memory = 200M' /usr/bin/python3 -c "$hog"
has "$ERR" "the memory limit of 200M was met"
many='import subprocess
for i in range(60): subprocess.Popen(["sleep", "60"])'
expect 0 session 'memory = 400M\nprocesses = 100' /usr/bin/python3 -c "$many"
expect 1 session 'memory = 400M\nprocesses = 50' /usr/bin/python3 -c "$many"
has "$ERR" "BlockingIOError"
expect 125 session 'memory = 2G' true
has "$ERR" "the host gives a user less than that"
owner "$WARDFS" doctor >doctor 2>&1 || :
has "$(cat doctor)" "a group made by wardfs-hostd"
wait_until 60 none_left || fail "groups stay: $(left)"

echo "--- in the modes with fewer boundaries"
for mode in none process; do
	expect 0 session 'memory = 900M' /usr/bin/python3 -c "$hog"
	expect 137 session 'memory = 200M' /usr/bin/python3 -c "$hog"
	has "$ERR" "the memory limit of 200M was met"
	expect 0 session 'memory = 400M\nprocesses = 100' /usr/bin/python3 -c "$many"
	expect 1 session 'memory = 400M\nprocesses = 50' /usr/bin/python3 -c "$many"
	has "$ERR" "BlockingIOError"
	expect 124 session 'cpu-time = 1s' /usr/bin/python3 -c 'while True: pass'
	expect 125 session 'memory = 2G' true
	has "$ERR" "the host gives a user less than that"
	wait_until 60 none_left || fail "$mode: groups stay: $(left)"
done
mode=

echo "--- kill -9 of the service in the middle: the limits stay, and nothing is left afterwards"
cat >"$HOME/p/loop" <<'END'
touch ready
while [ ! -e go ]; do sleep 0.1; done
exec /usr/bin/python3 -c 'x = bytearray(300 << 20)'
END
session 'memory = 200M' sh loop >run.out 2>&1 &
running=$!
others="$others $running"
wait_until 120 test -e "$HOME/p/ready" || fail "$(cat run.out)"
of_session=$(keepers)
[ -n "$of_session" ] || fail "nobody keeps the groups of the session"
kill -KILL "$service"
# shellcheck disable=SC2086
kill -KILL $of_session
wait "$service" 2>/dev/null || :
touch "$HOME/p/go"
rc=0
wait "$running" || rc=$?
[ $rc -eq 137 ] || fail "the session ended with $rc: $(cat run.out)"
[ -n "$(left)" ] || fail "control: nothing was left that could be removed"
service
wait_until 60 none_left || fail "groups stay: $(left)"

echo "--- kill -9 of a session"
rm -f "$HOME/p/ready" "$HOME/p/go"
session 'memory = 200M' sh loop >run.out 2>&1 &
running=$!
wait_until 120 test -e "$HOME/p/ready" || fail "$(cat run.out)"
[ -n "$(left)" ] || fail "control: the session has no group"
kill -KILL "$(cat "$HOME/pid")"
wait_until 60 none_left || fail "groups stay: $(left)"
rm -f "$HOME/p/ready"

echo "--- a service that is stopped: no session waits for ever, and none runs without its limit"
kill -STOP "$service"
expect 125 session 'memory = 200M' touch started
has "$ERR" "wardfs-hostd makes no group"
[ ! -e "$HOME/p/started" ] || fail "it ran without its limit"
kill -CONT "$service"
wait_until 60 none_left || fail "groups stay: $(left)"

echo "--- the service ends"
kill "$service"
wait "$service" || fail "it ended with $?: $(cat service.err)"
service=
[ -z "$(find /sys/fs/cgroup -name wardfs-host -type d)" ] || fail "directories of the service stay"
exit 0
