#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who may exchange a running session's policy. If root gave it (sudo wardfs run --policy), only
# root may, even if the session's owner reaches the socket. An owner's own policy is the owner's.
# wardfs reads the project's files with the owner's rights in both cases.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
trap '"$WARDFS" kill given >/dev/null 2>&1 || :; "$WARDFS" kill own >/dev/null 2>&1 || :' EXIT
chmod 755 "$WARD_TMP"
project p
echo kept >p/secret
chown -R 4711:4711 p
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nhide = /workspace/secret\n' >tight
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >open
export SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=t4711
run=${XDG_RUNTIME_DIR:-/run}/wardfs

# begin SESSION OPTION...: a session of uid 4711, begun by root, whose socket that user reaches.
begin() {
	name=$1
	shift
	(cd p && exec "$WARDFS" run --session "$name" "$@" -- sh -c ': >ready; exec sleep 600') >"$name.out" 2>&1 &
	is_ready() { [ -e p/ready ]; }
	wait_until 60 is_ready || fail "the session does not begin: $(cat "$name.out")"
	rm p/ready
	chmod 711 "$run/.." "$run" "$run/$name"
	chmod 666 "$run/$name/control"
}
ask() { python3 "$WARD_SRC/tests/cases/run/lib/reload-by-ask.py" "$@"; }
in_force() { "$WARDFS" exec "$1" test -e /workspace/secret; }

begin given --policy "$PWD/tight"
# Controls: this user is heard; the file weakens the policy when root asks.
[ "$(ask given status)" = "run -" ] || fail "control: not even status: $(ask given status)"
! in_force given || fail "control: nothing is hidden"
has "$(ask given reload "$PWD/open")" "False this user is not allowed to request 'reload': root gave this session its policy"
! in_force given || fail "the owner weakened what root gave"
expect 0 "$WARDFS" policy reload given "$PWD/open"
in_force given || fail "control: root's reload did not take effect"
# Also where the owner cannot go.
mkdir -m 700 roots-own
mv tight roots-own
expect 0 "$WARDFS" policy reload given "$PWD/roots-own/tight"

# A project file that only root may read: its text is not told, and nothing else comes into force.
echo "[roots-secret]" >p/.wardfs.policy
chmod 644 p/.wardfs.policy
expect 2 "$WARDFS" policy reload given "$PWD/open"
has "$ERR" "roots-secret"
chmod 600 p/.wardfs.policy
expect 2 "$WARDFS" policy reload given "$PWD/open"
has "$ERR" "Permission denied"
hasnt "$ERR" "roots-secret"
rm p/.wardfs.policy
expect 0 "$WARDFS" kill given

# The owner's own, without --policy: the owner exchanges it.
begin own
in_force own || fail "control: hidden from the start"
printf '[policy]\nversion = 1\nextends = medium\n[guard]\nhide = /workspace/secret\n' >own.policy
has "$(ask own reload "$PWD/own.policy" medium)" "True"
! in_force own || fail "the owner's reload did not take effect"
