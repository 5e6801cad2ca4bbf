#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Homes, credentials and our state stay hidden wherever they really lie: behind links, at second
# mounts, and in system directories that both views show.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to make a root of its own"
if [ "${HIDDEN_ROOT-}" != yes ]; then
	# The root of this host again, but for /etc, /home, /opt and /srv.
	export HIDDEN_ROOT=yes NEW="$WARD_TMP/root"
	mkdir "$NEW"
	exec unshare --mount --propagation private sh -c '
		set -eu
		mount -t tmpfs -o mode=755 tmpfs "$NEW"
		for path in /*; do
			at=$NEW$path
			case $path in
			/etc) cp -a /etc "$at" ;;
			/home | /opt | /srv) ;;
			*)
				if [ -L "$path" ]; then
					cp -a "$path" "$at"
				elif [ -d "$path" ]; then
					mkdir -p "$at"
					mount --rbind "$path" "$at"
				fi
				;;
			esac
		done
		mkdir -p "$NEW/opt/home" "$NEW/srv" "$NEW/before"
		ln -s opt/home "$NEW/home"
		cd "$NEW"
		pivot_root . before
		cd /
		umount -l /before
		cd "$WARD_TMP"
		exec sh "$0"' "$0"
fi
chmod 755 "$WARD_TMP"

# secret PATH...: a file that everybody may read on the host.
secret() {
	for file in "$@"; do
		mkdir -p "${file%/*}"
		echo secret >"$file"
	done
}
{
	grep -v '^alice:' /etc/passwd
	echo 'alice:x:4711:4711::/home/alice:/bin/sh'
	echo 'wardlink:x:4712:4712::/srv/link:/bin/sh'
	echo 'wardbind:x:4713:4713::/srv/place:/bin/sh'
	echo 'wardteam:x:4714:4714::/srv/team/own:/bin/sh'
} >passwd
cat passwd >/etc/passwd
secret /opt/home/alice/key /opt/home/somebody/key /srv/real/key /srv/behind/key
ln -s real /srv/link
mkdir /srv/place /srv/state /srv/again
mount --bind /srv/behind /srv/place
mount --bind /srv/state /srv/again
chmod 777 /srv/state
secret /etc/ssl/private/key /etc/pki/tls/private/key /etc/gradle/gradle.properties
secret /etc/maven/settings.xml /etc/maven/shown /etc/ssl/shown /opt/shown /srv/shown
chmod 755 /etc/ssl/private
HOMES="/home/alice/key /opt/home/alice/key /opt/home/somebody/key"
ETC="/etc/ssl/private/key /etc/pki/tls/private/key /etc/gradle/gradle.properties /etc/maven/settings.xml"
WHOLE="/srv/real/key /srv/link/key /srv/behind/key /srv/place/key"
export HOMES ETC WHOLE

cat >try.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
export XDG_STATE_HOME=/srv/state/$(id -u)
mkdir -p "$XDG_STATE_HOME"
STATE="$XDG_STATE_HOME/wardfs/key /srv/again/$(id -u)/wardfs/key"
project p
cd p
run() {
	"$WARDFS" run --policy it.policy -- "$@"
}
# hidden VIEW PATH...: there on the host for this user, nothing to read inside.
hidden() {
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nview = %s\n' "$1" >it.policy
	shift
	# The first start makes the keys.
	expect 0 run true
	for file in "$@"; do
		[ -s "$file" ] && head -c 1 "$file" >/dev/null || fail "control: $file on the host"
	done
	expect 0 run sh -c 'for file; do head -c 1 "$file" >/dev/null 2>&1 && test -s "$file" && echo "$file"; done; :' sh "$@"
	[ -z "$OUT" ] || fail "as $(id -u): shown inside: $OUT"
}
# shellcheck disable=SC2086
{
	hidden minimal $HOMES $ETC $STATE
	expect 0 run cat /opt/shown /etc/ssl/shown /etc/maven/shown
	hidden readonly $HOMES $ETC $STATE $WHOLE
	expect 0 run cat /opt/shown /etc/ssl/shown /etc/maven/shown /srv/shown
}
# A file of settings that is asked for is shown.
printf 'read = /etc/maven/settings.xml\n' >>it.policy
expect 0 run cat /etc/maven/settings.xml
[ "$OUT" = secret ] || fail "$OUT"
exit 0
S
sh ./try.sh || fail "as root"
(as_user "$WARD_TMP/try.sh") || fail "as an ordinary user"

# A project in a home that is hidden at the path where it really lies.
mkdir -p /opt/home/alice/p
chown -R 4711:4711 /opt/home/alice
cat >project.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
export HOME=/home/alice XDG_STATE_HOME=/srv/state/project
WARD_TMP=/opt/home/alice
cd /home/alice/p
project .
for view in minimal readonly; do
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nview = %s\n' "$view" >it.policy
	expect 0 "$WARDFS" run --policy it.policy -- sh -c '
		echo written >"$1/new"; cat /workspace/new; ls -a /opt/home/alice' sh /opt/home/alice/p
	has "$OUT" written
	hasnt "$OUT" key
done
S
(as_user "$WARD_TMP/project.sh") || fail "a project in a hidden home"

# Started by root for a member of a group: what is the group's shows, but for a home in it.
echo 'wardteam:x:4799:alice' >>/etc/group
secret /srv/team/shown /srv/team/own/key
chgrp 4799 /srv/team
chmod 750 /srv/team
project team
chown -R 4711:4711 team
cd team
printf '[policy]\nversion = 1\nextends = medium\n[system]\nview = readonly\n' >it.policy
expect 0 setpriv --reuid=4711 --regid=4711 --groups=4799 cat /srv/team/own/key
expect 0 "$WARDFS" run --policy it.policy -- cat /srv/team/shown
[ "$OUT" = secret ] || fail "what the owner's group may read: $OUT"
expect 1 "$WARDFS" run --policy it.policy -- cat /srv/team/own/key
has "$ERR" "No such file"
exit 0
