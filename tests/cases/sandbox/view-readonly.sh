#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [system] view = readonly shows the host without homes, credentials and sockets, and read-only.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >view.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[system]\nview = readonly\n' >ro.policy
run() {
	"$WARDFS" run --policy ro.policy -- "$@"
}
# More of the host than the minimal view has, as it is there.
expect 0 run cat "$SHOWN/file"
[ "$OUT" = shown ] || fail "$OUT"
expect 1 "$WARDFS" run -- cat "$SHOWN/file"
has "$ERR" "No such file"
expect 0 run test -d /var/lib
# Read-only, all of it, but for what is the session's own.
for d in "$SHOWN" /etc /usr /var /; do
	expect 1 run touch "$d/ward-test"
	has "$ERR" "Read-only file system"
done
expect 0 run sh -c 'touch /tmp/x "$HOME/x" /workspace/x && rm /workspace/x'
# Homes, credentials, state of ours.
expect 0 run sh -c 'ls /root; ls /home | grep -vx "${HOME##*/}" || :'
[ -z "$OUT" ] || fail "homes: $OUT"
for f in /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh "$XDG_STATE_HOME/wardfs/key" "$XDG_STATE_HOME/wardfs/sessions"; do
	[ -e "$f" ] || [ "$(id -u)" != 0 ] || continue
	expect 1 run test -e "$f"
done
[ -e "$XDG_STATE_HOME/wardfs/sessions" ] || fail "control: no state at $XDG_STATE_HOME"
expect 1 run cmp -s /etc/machine-id "$SHOWN/machine-id"
[ ! -s /var/lib/dbus/machine-id ] || expect 1 run test -s /var/lib/dbus/machine-id
# A socket of the host, where its file can be seen without hiding.
expect 0 python3 "$SHOWN/connect.py"
expect 0 run python3 "$SHOWN/connect.py"
[ "$OUT" = refused ] || fail "the host's socket answers: $OUT"
has "$("$WARDFS" audit show -v | awk '$3 == "session.start"')" '"view":"readonly"'
expect 0 run grep -c . /proc/self/mountinfo
exit 0
S
cp view.body view.sh
chmod 755 "$WARD_TMP"
# Of this host, where both may look: not below a home or /tmp.
SHOWN=$WARD_TMP/shown
case $SHOWN in
/tmp/* | /home/* | /var/tmp/*) SHOWN=/srv/wardfs-test.$$ ;;
esac
export SHOWN
mkdir -p "$SHOWN" || skip "there is no place that both may see"
trap 'kill $server 2>/dev/null || :; rm -rf "$SHOWN"' EXIT
echo shown >"$SHOWN/file"
cp /etc/machine-id "$SHOWN/machine-id" 2>/dev/null || echo none >"$SHOWN/machine-id"
cp "$WARD_SRC/tests/cases/sandbox/lib/view-readonly-connect.py" "$SHOWN/connect.py"
python3 "$WARD_SRC/tests/cases/sandbox/lib/view-readonly-listen.py" "$SHOWN/sock" &
server=$!
wait_until 60 test -S "$SHOWN/sock" || fail "no socket"
connected() {
	[ "$(python3 "$SHOWN/connect.py")" = connected ]
}
wait_until 60 connected || fail "control: the socket does not answer on the host"
# State where the view would show it.
mkdir -p "$SHOWN/state.root" "$SHOWN/state.user"
chmod 700 "$SHOWN"/state.*
chown 4711:4711 "$SHOWN/state.user"
XDG_STATE_HOME=$SHOWN/state.root sh ./view.sh || fail "as root"
sed 's|^cd p .*|cd p; export XDG_STATE_HOME=$SHOWN/state.user|' view.sh >view-user.sh
as_user "$WARD_TMP/view-user.sh" || fail "as an ordinary user"
exit 0
