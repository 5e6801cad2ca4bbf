#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# systemd accepts every line of the units of our services, and creates their users and
# directories. The control: systemd names a line that it does not support.
set -eu
. "$WARD_SRC/tests/lib.sh"
for tool in systemd-analyze systemd-sysusers systemd-tmpfiles; do
	command -v $tool >/dev/null || skip "no $tool"
done
dir=$WARD_SRC/conf/systemd
mkdir units root root/etc
for unit in wardfs-audit wardfs-host wardfs-host-groups; do
	sed "s|@libexecdir@|$WARD_BUILD|" "$dir/$unit.service.in" >units/$unit.service
	cp "$dir/$unit.socket" units/
	# The man page is not installed here.
	expect 0 systemd-analyze verify --man=no units/$unit.socket units/$unit.service
	[ -z "$OUT$ERR" ] || fail "systemd-analyze: $OUT $ERR"
done
sed 's/^Backlog/Backlogs/' units/wardfs-audit.socket >units/broken.socket
systemd-analyze verify --man=no units/broken.socket >out 2>&1 || : # some versions fail then
grep -q Backlogs out || fail "control: $(cat out)"
expect 0 systemd-sysusers --root="$WARD_TMP/root" "$dir/sysusers.conf"
for user in wardfs-audit wardfs-host wardfs-groups; do
	grep -q "^$user:" root/etc/passwd || fail "no user: $(cat root/etc/passwd)"
done
expect 0 systemd-tmpfiles --root="$WARD_TMP/root" --create "$dir/tmpfiles.conf"
modes=$(stat -c %a root/run/wardfs-audit root/var/lib/wardfs-audit root/run/wardfs-host | tr '\n' ' ')
[ "$modes" = "755 711 755 " ] || fail "$modes"
# Both sides speak of the same places.
grep -qF "\"$(sed -n 's/^ListenSequentialPacket=//p' "$dir/wardfs-audit.socket")\"" \
	"$WARD_SRC/enforcer/ipc/system.h" || fail "the socket is elsewhere"
grep -qF "\"$(sed -n 's/^ListenSequentialPacket=//p' "$dir/wardfs-host.socket")\"" \
	"$WARD_SRC/enforcer/ipc/host.h" || fail "the socket is elsewhere"
grep -qF "\"$(sed -n 's/^ListenSequentialPacket=//p' "$dir/wardfs-host-groups.socket")\"" \
	"$WARD_SRC/enforcer/ipc/host.h" || fail "the socket is elsewhere"
grep -qF '"/var/lib/wardfs-audit"' "$WARD_SRC/enforcer/ipc/system.h" || fail "the state is elsewhere"
# As root, or without a socket, it does not start.
expect 2 "$WARD_BUILD/wardfs-auditd" --keep 0
expect 2 "$WARD_BUILD/wardfs-hostd" --keep 0
expect 2 "$WARD_BUILD/wardfs-hostd" --sessions 3
has "$ERR" "--help"
expect 2 "$WARD_BUILD/wardfs-hostd" --groups --sessions 513
for program in wardfs-auditd wardfs-hostd; do
	expect 0 "$WARD_BUILD/$program" --help
	[ "$(id -u)" -eq 0 ] || continue
	expect 2 "$WARD_BUILD/$program"
	has "$ERR" "not as root"
	expect 2 "$WARD_BUILD/wardfs-hostd" --groups
	has "$ERR" "start wardfs-host-groups.socket"
done
exit 0
