#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host programs listen in directories that a session sees, and a read-only mount does not stop
# connect(2). They do not answer inside, however they were bound, in both views, as root and as a
# user.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to mount over /opt and /srv"
if [ "${SOCKETS_APART-}" != yes ]; then
	mkdir -p /opt /srv
	SOCKETS_APART=yes exec unshare --mount --propagation private sh "$0"
fi
# File systems whose mounts can be shut since Linux 6.3: what lies below does not matter.
mount -t tmpfs -o mode=755 tmpfs /opt
mount -t tmpfs -o mode=755 tmpfs /srv
chmod 755 "$WARD_TMP"
server=
stop() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null || :
	wait "$server" 2>/dev/null || :
	server=
}
trap stop EXIT
inside=$(cat "$WARD_SRC/tests/escape/lib/sockets-inside.py")
listen=$(cat "$WARD_SRC/tests/escape/lib/sockets-listen.py")
without=
export inside without

# try WHO SERVER TOP SYSTEM...: a session of WHO (root, user, owner: root for the user's project)
# while a server of that uid listens in TOP; SYSTEM: lines of [system]. Sets ANSWER to who answered.
try() {
	who=$1
	top=$3
	dir=$WARD_TMP/p
	[ "$who" != user ] || dir=$WARD_TMP/home/p
	stop
	rm -rf "$dir" "$top"
	mkdir -p "$WARD_TMP/home" "$top"
	project "$dir"
	[ "$who" = root ] || chown -R 4711:4711 "$dir"
	chmod 777 "$dir"
	chown "$2:$2" "$top"
	uid=$2
	shift 3
	printf '[policy]\nversion = 1\nextends = medium\n[system]\n' >"$WARD_TMP/it.policy"
	[ $# -eq 0 ] || printf '%s\n' "$@" >>"$WARD_TMP/it.policy"
	(cd / && exec setpriv --reuid="$uid" --regid="$uid" --clear-groups /usr/bin/python3 -c "$listen" "$top" "$dir") &
	server=$!
	wait_until 60 test -e "$dir/ready" || fail "control: no server in $top"
	printf 'cd "%s" && $without "$WARDFS" run --policy "$WARD_TMP/it.policy" -- /usr/bin/python3 -c "$inside" "%s" && "$WARDFS" audit show -v\n' \
		"$dir" "$top" >"$WARD_TMP/session.sh"
	if [ "$who" = user ]; then
		expect 0 as_user "$WARD_TMP/session.sh"
	else
		expect 0 sh "$WARD_TMP/session.sh"
	fi
	printf '%s\n' "$OUT" >"$WARD_TMP/answers"
	ANSWER=$(grep -xE 'own|absolute|packets|renamed|linked|relative|elsewhere|later' "$WARD_TMP/answers" | tr '\n' ' ')
	# The control is the first.
	case $ANSWER in
	own*) ;;
	*) fail "the attempt itself is wrong: $OUT" ;;
	esac
}
# only NAME...: nobody else answered.
only() {
	for name in $ANSWER; do
		case " $* " in
		*" $name "*) ;;
		*) fail "$who, server $uid in $top: $name of the host answers ($ANSWER)" ;;
		esac
	done
}
# shut: nobody at all, if the record says that mounts were shut; else what could not be found.
shut() {
	if grep -q '"sockets_shut":true' "$WARD_TMP/answers"; then
		only own
	else
		case $(uname -r) in
		6.[0-2].*) ;;
		*) fail "the mounts of a tmpfs were not shut: $(cat "$WARD_TMP/answers")" ;;
		esac
		only own elsewhere later
	fi
}

try root 0 /opt/top
shut
try root 0 /srv/top 'view = readonly'
shut
try root 0 /srv/top 'read = /srv/top'
shut
try owner 0 /opt/top
shut
# Sockets of the command's own user: those that are found at the start.
try owner 4711 /opt/top
only own later
try owner 4711 /srv/top 'view = readonly'
only own later
try user 4711 /opt/top
only own later
try user 4711 /srv/top 'view = readonly'
only own later
try user 4711 /srv/top 'read = /srv/top'
only own later
# The same without sock_diag.
without="$WARD_BUILD/tests/support/knockout recvfrom=EPERM --"
try user 4711 /opt/top
only own later
without=
# Where the server works is closed to this user.
try user 0 /opt/top
only own relative elsewhere later
exit 0
