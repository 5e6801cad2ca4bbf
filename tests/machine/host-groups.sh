#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The unit wardfs-host-groups as systemd runs it. Its sandbox lets it make groups and write to
# nothing else. Sessions of an ordinary user have limits by it, also over a restart and a removal.
# serial
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/machine/lib/machine.sh"
UNITS=/run/systemd/system
UNIT=wardfs-host-groups
# The service knows processes by the /proc and the groups that it sees itself.
[ $# -gt 0 ] || exec nsenter --mount --target 1 sh "$0" inside
cd "$WARD_TMP"
home "$WARD_TMP/user"
mkdir "$WARD_TMP/user/p"
chown 1000:1000 "$WARD_TMP/user/p"
main() {
	systemctl show -p MainPID --value $UNIT.service
}
left() {
	find /sys/fs/cgroup -path '*/wardfs-host/1000/*' -type d
}
none_left() {
	[ -z "$(left)" ]
}
# In scripts of the user: session LIMITS COMMAND... The user's manager would have groups, too.
functions='
unset XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS
cd p
session() {
	printf "[policy]\nversion = 1\n[files]\nwrite = /workspace\n[limits]\n%b\n" "$1" >../own.policy
	shift
	"$WARDFS" run --policy ../own.policy -- "$@"
}
hog="x = bytearray(300 << 20); print(len(x))"
'

owner "$WARD_TMP/user" "$functions"'
	expect 0 session "processes = 50" touch control
	[ -e control ] || fail "control: a session without such a limit"
	expect 125 session "memory = 200M" touch never
	[ ! -e never ] || fail "it ran without its limit"' || fail "without the unit"

mkdir -p $UNITS
sed "s|@libexecdir@|$WARD_BUILD|" "$WARD_SRC/conf/systemd/$UNIT.service.in" >$UNITS/$UNIT.service
cp "$WARD_SRC/conf/systemd/$UNIT.socket" $UNITS/
systemd-sysusers "$WARD_SRC/conf/systemd/sysusers.conf"
systemd-tmpfiles --create "$WARD_SRC/conf/systemd/tmpfiles.conf"
systemctl daemon-reload
systemctl start $UNIT.socket || fail "$(systemctl status $UNIT.socket)"
[ "$(main)" = 0 ] || fail "it runs before somebody asks"

owner "$WARD_TMP/user" "$functions"'
	expect 0 session "memory = 900M\nprocesses = 50\ncpus = 0.5" /usr/bin/python3 -c "$hog"
	expect 137 session "memory = 200M" /usr/bin/python3 -c "$hog"
	has "$ERR" "the memory limit of 200M was met"
	"$WARDFS" doctor >../told 2>&1 || :
	has "$(cat ../told)" "a group made by wardfs-hostd"' || fail "by the unit: $(systemctl status $UNIT.service)"
wait_until 60 none_left || fail "groups stay: $(left)"

# The sandbox: who it is, what it may at most, and where it can write.
first=$(main)
[ "$(stat -c %U "/proc/$first")" = wardfs-groups ] || fail "it is of $(stat -c %U "/proc/$first")"
grep -q '^NoNewPrivs:.*1$' "/proc/$first/status" || fail "the unit's sandbox"
grep -q '^CapBnd:.*00000000000000a2$' "/proc/$first/status" || fail "$(grep ^CapBnd "/proc/$first/status")"
# What is mounted there: path, options
seen=$(cut -d ' ' -f 5,6 "/proc/$first/mountinfo")
echo "$seen" | grep -q '^/ ro' || fail "/ can be written: $seen"
echo "$seen" | grep -q '^/sys/fs/cgroup[^ ]* rw' || fail "control: no groups can be made: $seen"
for path in /sys /proc/sys; do
	echo "$seen" | grep -q "^$path ro" || fail "$path can be written: $seen"
done

# A session that goes on while the service is restarted, or removed: its limit stays in force.
long() {
	rm -f "$WARD_TMP/user/p/begun" "$WARD_TMP/user/p/end"
	owner "$WARD_TMP/user" "$functions"'
		expect 137 session "memory = 200M" sh -c "touch begun
			until [ -e end ]; do sleep 0.1; done; exec /usr/bin/python3 -c \"x = bytearray(300 << 20)\""
		has "$ERR" "the memory limit of 200M was met"' &
	long=$!
	wait_until 120 test -e "$WARD_TMP/user/p/begun" || fail "the long session does not start"
}
end_long() {
	touch "$WARD_TMP/user/p/end"
	wait $long || fail "the long session: $1"
	wait_until 60 none_left || fail "groups stay: $(left)"
}
short() {
	owner "$WARD_TMP/user" "$functions"'
		expect 137 session "memory = 100M" /usr/bin/python3 -c "$hog"' || fail "a session $1"
}
long
systemctl restart $UNIT.service || fail "restart: $(systemctl status $UNIT.service)"
[ "$(main)" != "$first" ] || fail "control: it is still the old process"
short "beside the long one"
end_long "over a restart"

# Killed: the socket starts it again.
kill -KILL "$(main)"
short "after a kill"

# As dpkg does it: an upgrade stops nothing, a removal both, a purge also takes the link.
systemctl enable -q $UNIT.socket
link=/etc/systemd/system/sockets.target.wants/$UNIT.socket
[ -L $link ] || fail "control: nothing was enabled"
long
sh "$WARD_SRC/packaging/prerm" upgrade 9.9
[ "$(systemctl is-active $UNIT.socket)" = active ] || fail "an upgrade stopped it"
sh "$WARD_SRC/packaging/prerm" remove
for kind in socket service; do
	state=$(systemctl is-active $UNIT.$kind || :)
	[ "$state" = inactive ] || fail "the $kind is $state: $(systemctl status $UNIT.$kind)"
done
owner "$WARD_TMP/user" "$functions"'
	expect 125 session "memory = 200M" touch never
	[ ! -e never ] || fail "it ran without its limit"' || fail "stopped"
end_long "over a removal"
# Whoever serves a session cannot remove what is above its user's groups: an empty directory stays.
find /sys/fs/cgroup -depth -type d -name wardfs-host -exec rmdir {} + || fail "it is not empty"
rm $UNITS/$UNIT.*
sh "$WARD_SRC/packaging/postrm" remove
[ -L $link ] || fail "control: the link is gone before the purge"
sh "$WARD_SRC/packaging/postrm" purge
[ ! -L $link ] || fail "the link stays"
