#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host goes to sleep while a request waits for a person: it is refused before the processes are
# frozen, the question stays, and its answer acts. The control is a session to which nobody tells:
# where the kernel has the freezer of version 1, which freezes as a suspend does, it is seen there
# that a request that waits keeps the session from being frozen.
# timeout: 400
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
command -v dbus-daemon >/dev/null || skip "needs dbus-daemon"
asking_project '[approvals]' 'timeout = 600s'

cat >../bus.conf <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><listen>unix:path=$WARD_TMP/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy>
</busconfig>
END
dbus-daemon --config-file="$WARD_TMP/bus.conf" --nofork --nopidfile 2>../bus.err &
bus=$!
logind=
group=
clean() {
	[ -z "$group" ] || echo THAWED >"$group/freezer.state"
	exec 4>&-
	[ -z "$logind" ] || kill "$logind" 2>/dev/null || :
	kill $bus 2>/dev/null || :
	wait || :
	if [ -n "$group" ]; then rmdir "$group"; fi
	if [ -d "$WARD_TMP/freezer" ]; then
		umount "$WARD_TMP/freezer" && rmdir "$WARD_TMP/freezer"
	fi
}
trap clean EXIT
wait_until 30 test -S ../bus || fail "no bus: $(cat ../bus.err)"
mkfifo ../say
python3 "$WARD_SRC/tests/cases/run/lib/approve-logind.py" ../bus <../say >../said 2>../logind.err &
logind=$!
exec 4>../say
# tell LINE ANSWER: the one who stands for logind does it.
tell() {
	: >../said
	echo "$1" >&4
	wait_until 90 grep -q . ../said || fail "$1: no answer: $(cat ../logind.err)"
	grep -qx "$2" ../said || fail "$1: $(cat ../said ../logind.err)"
}
wait_until 30 grep -qx ready ../said || fail "no logind: $(cat ../logind.err)"

# A group to freeze the session in, where there can be one. The mount is our own.
mkdir ../freezer
if [ "$(id -u)" -eq 0 ] && mount -t cgroup -o freezer none ../freezer 2>../mount.err; then
	group=$WARD_TMP/freezer/ward-asleep-$$
	echo "with a group to freeze"
	mkdir "$group"
else
	rmdir ../freezer
fi
frozen() { [ "$(cat "$group/freezer.state")" = FROZEN ]; }
# freeze: 0: all are frozen within some seconds.
freeze() {
	echo FROZEN >"$group/freezer.state"
	wait_until "$1" frozen
}
# begin_in NAME: the session, in the group. Its command tells each end of an open.
begin_in() {
	name=$1
	(
		[ -z "$group" ] || echo 0 >"$group/cgroup.procs"
		exec "$WARDFS" run --session "$name" --policy ../ask.policy -- sh -c '
			until echo x >>.github/workflows/ci; do echo refused; until [ -e go ]; do sleep 0.1; done; done
			echo opened' >"../$name.out" 2>"../$name.err"
	) &
	RUN=$!
}

if [ -n "$group" ]; then
	echo "--- control: to whom nobody tells, that one cannot be frozen while a request waits"
	begin_in untold
	question untold
	if freeze 3; then fail "it is frozen all the same: this test shows nothing"; fi
	echo THAWED >"$group/freezer.state"
	expect 0 "$WARDFS" approve "$Q" once
	end 0 untold
	echo "--- control: it can be while none does"
	begin_in quiet
	question quiet
	expect 0 "$WARDFS" approve "$Q" no
	wait_until 60 grep -qx refused ../quiet.out || fail "$(cat ../quiet.err)"
	freeze 30 || fail "a session in which nothing waits cannot be frozen"
	echo THAWED >"$group/freezer.state"
	kill "$RUN"
	wait "$RUN" || :
fi

DBUS_SYSTEM_BUS_ADDRESS=unix:path=$WARD_TMP/bus
export DBUS_SYSTEM_BUS_ADDRESS
echo "--- while a request waits, sleep is delayed; nobody but logind ends the wait"
tell "locks 0" locks
begin_in told
question told
tell "locks 1" locks
tell imitate delayed
[ ! -s ../told.out ] || fail "$(cat ../told.out)"

echo "--- told of it, the request is refused, and then the host may sleep"
tell sleep released
wait_until 60 grep -qx refused ../told.out || fail "$(cat ../told.err)"
[ -z "$group" ] || freeze 30 || fail "it cannot be frozen"
[ -z "$group" ] || echo THAWED >"$group/freezer.state"

echo "--- while it sleeps, nothing waits; the question is the same"
touch go
wait_until 60 sh -c '[ "$(grep -cx refused ../told.out)" -gt 2 ]' || fail "$(cat ../told.out)"
[ "$(member told 'q["question"]')" = "$Q" ] || fail "another question"

echo "--- awake, it waits again, and the answer acts"
tell wake woken
tell "locks 1" locks
n=$(grep -cx refused ../told.out)
sleep 1
[ "$(grep -cx refused ../told.out)" -le $((n + 1)) ] || fail "it is refused still"
expect 0 "$WARDFS" approve "$Q" once
end 0 told
grep -qx opened ../told.out || fail "$(cat ../told.out)"
rm go
tell "locks 0" locks

echo "--- a bus that talks nonsense, or ends, costs the session nothing"
kill "$logind"
wait "$logind" || :
logind=
kill $bus
wait $bus || :
python3 "$WARD_SRC/tests/cases/run/lib/approve-nonsense.py" ../bus2 >../spoken 2>../nonsense.err &
bus=$!
wait_until 30 test -S ../bus2 || fail "$(cat ../nonsense.err)"
export DBUS_SYSTEM_BUS_ADDRESS="unix:path=$WARD_TMP/bus2"
begin nonsense sh -c 'for i in 1 2 3 4 5 6; do echo $i >>.github/workflows/ci; done'
last=
for i in 1 2 3 4 5 6; do
	next() { Q=$(member nonsense 'q["question"]') && [ "$Q" != "$last" ]; }
	wait_until 60 next || fail "no question: $(cat ../nonsense.err)"
	last=$Q
	expect 0 "$WARDFS" approve "$Q" once
done
end 0 nonsense
[ "$(tail -n 1 .github/workflows/ci)" = 6 ] || fail "$(cat .github/workflows/ci)"
wait_until 30 test "$(wc -l <../spoken)" -ge 6 || fail "it spoke to $(cat ../spoken)"
