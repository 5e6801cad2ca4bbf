#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# systemd accepts every line of the system writer's units, and creates the user and the
# directories. The control: systemd names a line that it does not support.
set -eu
. "$WARD_SRC/tests/lib.sh"
for tool in systemd-analyze systemd-sysusers systemd-tmpfiles; do
	command -v $tool >/dev/null || skip "no $tool"
done
dir=$WARD_SRC/conf/systemd
mkdir units root root/etc
sed "s|@libexecdir@|$WARD_BUILD|" "$dir/wardfs-audit.service.in" >units/wardfs-audit.service
cp "$dir/wardfs-audit.socket" units/
# The man page is not installed here.
expect 0 systemd-analyze verify --man=no units/wardfs-audit.socket units/wardfs-audit.service
[ -z "$OUT$ERR" ] || fail "systemd-analyze: $OUT $ERR"
sed 's/^Backlog/Backlogs/' units/wardfs-audit.socket >units/broken.socket
systemd-analyze verify --man=no units/broken.socket >out 2>&1 || : # some versions fail then
grep -q Backlogs out || fail "control: $(cat out)"
expect 0 systemd-sysusers --root="$WARD_TMP/root" "$dir/sysusers.conf"
grep -q '^wardfs-audit:' root/etc/passwd || fail "no user: $(cat root/etc/passwd)"
expect 0 systemd-tmpfiles --root="$WARD_TMP/root" --create "$dir/tmpfiles.conf"
[ "$(stat -c %a root/run/wardfs-audit root/var/lib/wardfs-audit | tr '\n' ' ')" = "755 711 " ] ||
	fail "$(stat -c '%n %a' root/run/wardfs-audit root/var/lib/wardfs-audit)"
# Both sides speak of the same places.
grep -qF "\"$(sed -n 's/^ListenSequentialPacket=//p' "$dir/wardfs-audit.socket")\"" \
	"$WARD_SRC/enforcer/ipc/system.h" || fail "the socket is elsewhere"
grep -qF '"/var/lib/wardfs-audit"' "$WARD_SRC/enforcer/ipc/system.h" || fail "the state is elsewhere"
# As root, or without a socket, it does not start.
expect 2 "$WARD_BUILD/wardfs-auditd" --keep 0
expect 0 "$WARD_BUILD/wardfs-auditd" --help
if [ "$(id -u)" -eq 0 ]; then
	expect 2 "$WARD_BUILD/wardfs-auditd"
	has "$ERR" "not as root"
fi
exit 0
