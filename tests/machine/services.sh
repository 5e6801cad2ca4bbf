#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The units as systemd runs them. The socket of the system's writer starts it, and so does that of
# the host's service. The writer's sandbox is the unit's. Sessions of an ordinary user have their
# trails there, also over a restart.
# serial
# timeout: 600
set -eu
. "$WARD_SRC/tests/machine/lib/machine.sh"
UNITS=/run/systemd/system
# The host's service knows files by the mounts that it sees itself.
[ $# -gt 0 ] || exec nsenter --mount --target 1 sh "$0" inside
cd "$WARD_TMP"
manager
home "$WARD_TMP/user"
state() {
	systemctl is-active "$1" || :
}
# main: the process of the writer
main() {
	systemctl show -p MainPID --value wardfs-audit.service
}
POLICY='[policy]\nversion = 1\nextends = medium\n[audit]\nwriter = system\n'

# Without the units: refused, with the reason. Control: a trail of one's own.
owner "$WARD_TMP/user" 'mkdir p && cd p && printf "$1" >../system.policy
	expect 125 "$WARDFS" run --policy ../system.policy -- touch never
	has "$ERR" wardfs-audit.socket
	[ ! -e never ] || fail "it ran without a trail"
	expect 0 "$WARDFS" run -- touch own
	[ -e own ]' "$POLICY" || fail "without the units"

mkdir -p $UNITS
for unit in wardfs-audit wardfs-host; do
	sed "s|@libexecdir@|$WARD_BUILD|" "$WARD_SRC/conf/systemd/$unit.service.in" >$UNITS/$unit.service
	cp "$WARD_SRC/conf/systemd/$unit.socket" $UNITS/
done
systemd-sysusers "$WARD_SRC/conf/systemd/sysusers.conf"
systemd-tmpfiles --create "$WARD_SRC/conf/systemd/tmpfiles.conf"
systemctl daemon-reload
systemctl start wardfs-audit.socket wardfs-host.socket || fail "$(systemctl status wardfs-audit.socket)"
[ "$(state wardfs-audit.service)" = inactive ] || fail "it runs before somebody asks"

owner "$WARD_TMP/user" 'cd p
	expect 0 "$WARDFS" run --session first --policy ../system.policy -- touch first
	[ -e first ] || fail "nothing was done"
	expect 0 "$WARDFS" audit verify --system first
	expect 0 "$WARDFS" audit show --system first
	has "$OUT" /workspace/first
	"$WARDFS" doctor >told || [ $? -eq 1 ]
	grep -q "^ok *audit writer" told || fail "doctor: $(cat told)"' || fail "the first session: $(systemctl status wardfs-audit.service)"
[ "$(state wardfs-audit.service)" = active ] || fail "nothing started the writer"
owner=$(stat -c %U "/proc/$(main)")
[ "$owner" = wardfs-audit ] || fail "the writer is of $owner"
grep -q '^NoNewPrivs:.*1$' "/proc/$(main)/status" || fail "the unit's sandbox"
grep -q '^CapBnd:.*0000000000000000$' "/proc/$(main)/status" || fail "the unit's capabilities"
refused "ermission denied" owner "$WARD_TMP/user" 'rm -r /var/lib/wardfs-audit/1000/*'
expect 0 "$WARDFS" audit verify --state /var/lib/wardfs-audit/1000 first

# The host's service: passthrough, where the kernel has it.
before=$(state wardfs-host.service)
[ "$before" != failed ] || fail "wardfs-hostd: $(systemctl status wardfs-host.service)"
if owner "$WARD_TMP/user" '"$WARDFS" doctor' | grep -q '^ok *fuse passthrough'; then
	[ "$(state wardfs-host.service)" = active ] || fail "nothing started wardfs-hostd"
	owner "$WARD_TMP/user" 'cd p && head -c 2000000 /dev/zero >big
		printf "[policy]\nversion = 1\n[files]\nwrite = /workspace\n" >../own.policy
		expect 0 "$WARDFS" run --policy ../own.policy -- cksum big
		expect 0 "$WARDFS" audit show --json --path /workspace/big
		has "$OUT" passthrough' || fail "passthrough: $(systemctl status wardfs-host.service)"
	echo "passthrough by the service"
fi

# A session that is there goes on over a restart of the writer, and its trail is whole.
owner "$WARD_TMP/user" 'cd p && expect 0 "$WARDFS" run --session long --policy ../system.policy -- sh -c "touch begun
	until [ -e end ]; do sleep 0.1; done; touch after"
	expect 0 "$WARDFS" audit verify --system long
	expect 0 "$WARDFS" audit show --system long
	has "$OUT" /workspace/after' &
long=$!
wait_until 120 test -e "$WARD_TMP/user/p/begun" || fail "the long session does not start"
old=$(main)
systemctl restart wardfs-audit.service || fail "restart: $(systemctl status wardfs-audit.service)"
[ "$(main)" != "$old" ] || fail "control: it is still the old process"
owner "$WARD_TMP/user" 'cd p && expect 0 "$WARDFS" run --session beside --policy ../system.policy -- true
	expect 0 "$WARDFS" audit verify --system beside' || fail "beside the long session"
touch "$WARD_TMP/user/p/end"
wait $long || fail "the long session"

# Killed: the socket starts it again.
kill -KILL "$(main)"
wait_until 60 sh -c '[ "$(systemctl show -p MainPID --value wardfs-audit.service)" != '"$(main)"' ]' || :
owner "$WARD_TMP/user" 'cd p && expect 0 "$WARDFS" run --policy ../system.policy -- true' || fail "after a kill"

systemctl stop wardfs-audit.socket wardfs-audit.service wardfs-host.socket wardfs-host.service
owner "$WARD_TMP/user" 'cd p && expect 125 "$WARDFS" run --policy ../system.policy -- touch never
	[ ! -e never ]' || fail "stopped"
rm $UNITS/wardfs-audit.* $UNITS/wardfs-host.*
systemctl daemon-reload
