#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every mount inside is nosuid and nodev, and read-only and noexec where intended. The mounts'
# names reveal nothing. The test also runs a set-user-id program and opens a device in a tree. As
# root and as an ordinary user.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"

# Reads a mountinfo, says what is wrong with it. Arguments: paths that must be noexec beside those
# below.
cp "$WARD_SRC/tests/cases/run/lib/mount-flags.py" flags.py

cat >flags.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
[ -e flags.py ] || cp "$1" flags.py
project q
mkdir -p q state
cd q || exit 1
for view in minimal readonly; do
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nview = %s\n' $view >"../$view.policy"
done
# A view of the host has no place for more trees.
cat >>../minimal.policy <<P
[tree /var/agent/state]
source = $PWD/../state
at = none
[tree /eph]
source = tmpfs:4M
[files]
write = /var/agent/state
write = /eph
noexec = /eph
P
for view in minimal readonly; do
	eph=/eph
	[ $view = minimal ] || eph=/proc
	# Where a tree is seen at its own path as well, that is not the view's.
	expect 0 "$WARDFS" run --policy "../$view.policy" -- cat /proc/self/mountinfo
	bad=$(printf '%s\n' "$OUT" | python3 ../flags.py "$PWD" $eph) || fail "view $view"
	[ -z "$bad" ] || fail "view $view: $bad"
	# The mounts of wardfs have names without meaning; a tree without a place of its own shows
	# nothing.
	hasnt "$OUT" "$(realpath ../state)"
	has "$OUT" " / /workspace "
	has "$OUT" " $(realpath .) " # the control: a tree at its own path is a mount point there
	bad=$(printf '%s\n' "$OUT" | grep -E ' /(workspace|var/agent/state|eph|tmp|home/agent|agent-home) ' |
		grep -Ev ' /[0-9]* /[^ ]* .* - (fuse[.]wardfs|tmpfs) wardfs ' || :)
	[ -z "$bad" ] || fail "view $view: a mount with a name: $bad"
done
exit 0
S
# The control: the host's own mounts are none of that.
python3 flags.py "" </proc/self/mountinfo >host
has "$(cat host)" "may set ids"
has "$(cat host)" "devices"
has "$(cat host)" "may be written"
chmod 755 . && chmod 644 flags.py flags.sh
sh flags.sh "$WARD_TMP/flags.py" || fail "as root"
(as_user "$WARD_TMP/flags.sh" "$WARD_TMP/flags.py") || fail "as an ordinary user"

# In the trees: a program that becomes root, and a device. Outside they are just that.
project p
chmod 755 . p
cp /usr/bin/id p/suid
chmod 4755 p/suid
mknod p/null c 1 3
chmod 666 p/null
chown 4711 p
[ "$(setpriv --reuid 4711 --regid 4711 --clear-groups p/suid -u)" = 0 ] || fail "control: not set-user-id outside"
setpriv --reuid 4711 --regid 4711 --clear-groups sh -c 'echo x >p/null' || fail "control: no device outside"
[ -c p/null ] || fail "control: the device was replaced"
cat >inside.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
cd "$1" || exit 1
for mode in restricted process none; do
	expect 0 "$WARDFS" run --mode $mode -- sh -c '/workspace/suid -u; "$0"/suid -u; id -u' "$1"
	hasnt " $(printf '%s' "$OUT" | tr '\n' ' ') " " 0 "
	expect 2 "$WARDFS" run --mode $mode -- sh -c 'echo x >/workspace/null'
	has "$ERR" "ermission denied"
done
exit 0
S
sh inside.sh "$PWD/p" || fail "as root, in the trees"
(as_user "$WARD_TMP/inside.sh" "$PWD/p") || fail "as an ordinary user, in the trees"
exit 0
