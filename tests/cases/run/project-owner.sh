#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Root starts a session in a directory that one account owns inside another account's. The policy
# file, kept home and marks of one account make no directory of another's a project.
set -eu
if [ "${1-}" != mounted ]; then
	# Two accounts, in a private mount namespace: their homes are where the policies lie.
	. "$WARD_SRC/tests/lib.sh"
	unshare --mount --propagation private sh "$0" mounted
	exit
fi
. "$WARD_SRC/tests/lib.sh"
bob=4711 alice=4712
chmod 755 "$WARD_TMP"
sed -e "/:$bob:/d" -e "/:$alice:/d" /etc/passwd >"$WARD_TMP/passwd"
echo "tbob:x:$bob:$bob::$WARD_TMP/bob:/bin/sh" >>"$WARD_TMP/passwd"
echo "talice:x:$alice:$alice::$WARD_TMP/alice:/bin/sh" >>"$WARD_TMP/passwd"
mount --bind "$WARD_TMP/passwd" /etc/passwd
for who in bob alice; do
	mkdir -p "$WARD_TMP/$who/.config/wardfs/projects"
done
unset SUDO_UID SUDO_GID SUDO_USER

# chosen WHO DIR [LINE]: WHO keeps a policy file for DIR.
chosen() {
	name=$(printf '%s' "${2#/}" | sed 's/-/\\x2d/g; s,/,-,g')
	printf '[policy]\nversion = 1\nextends = medium\n%s\n' "${3-}" >"$WARD_TMP/$1/.config/wardfs/projects/$name.policy"
	chown -R "$bob:$bob" "$WARD_TMP/bob"
	chown -R "$alice:$alice" "$WARD_TMP/alice"
}

# srv is root's with a secret, srv/app has root's mark, srv/app/up is bob's.
srv=$WARD_TMP/srv
mkdir -p "$srv/private" "$srv/app/up"
echo rootsecret >"$srv/private/k"
chmod 600 "$srv/private/k"
git init -q "$srv/app"
chown "$bob:$bob" "$srv/app/up"
chosen bob "$WARD_TMP/none"

# Control: root's mark chooses; what is beside it is not there.
cd "$srv/app/up" || exit 1
expect 1 "$WARDFS" run -- cat "$srv/private/k"
expect 0 "$WARDFS" run -- cat "$srv/app/.git/HEAD"
# Control: root's own file for srv chooses, once root stands in a directory of root's.
cd "$srv/app" || exit 1
HOME=$WARD_TMP/root && export HOME
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.config"
cp -r "$WARD_TMP/bob/.config/wardfs" "$HOME/.config"
rm "$HOME/.config/wardfs/projects"/*
chosen bob "$srv"
cp "$WARD_TMP/bob/.config/wardfs/projects/"*srv.policy "$HOME/.config/wardfs/projects/"
expect 0 "$WARDFS" run -- cat "$srv/private/k"
cd up || exit 1
expect 0 "$WARDFS" run -- cat "$srv/private/k"
rm "$HOME/.config/wardfs/projects"/*

# Bob's file for srv does not choose for root, from bob's directory neither.
expect 1 "$WARDFS" run -- cat "$srv/private/k"
has "$ERR" "No such file"
expect 2 "$WARDFS" run -- sh -c 'echo x >"$1"/private/new' sh "$srv"
[ ! -e "$srv/private/new" ] || fail "bob's file chose the directory of root"
expect 1 "$WARDFS" policy explain read "$srv/private/k"
hasnt "$OUT$ERR" srv.policy
# Named as the owner, bob is the owner throughout: his file counts, and so do his rights.
expect 1 "$WARDFS" run --user tbob -- cat "$srv/private/k"
has "$ERR" "Permission denied"
# Nor does a home that was kept for him there.
rm "$WARD_TMP/bob/.config/wardfs/projects/"*srv.policy
expect 1 "$WARDFS" run -- cat "$srv/private/k"
has "$ERR" "No such file"

# Nor a mark of his in a directory of root's, where his group may write. The control: root's mark
# there.
for mark in .git .wardfs.policy; do
	for by in 0 "$bob"; do
		d=$WARD_TMP/staff$by$mark
		mkdir -p "$d/up"
		chgrp "$bob" "$d"
		chmod 2775 "$d"
		chown "$bob:$bob" "$d/up"
		echo rootsecret >"$d/k"
		chmod 600 "$d/k"
		setpriv --reuid="$by" --regid="$bob" --clear-groups sh -ec '
			cd "$1"
			[ "$2" = .git ] && mkdir .git || printf "[policy]\nversion = 1\n" >.wardfs.policy' sh "$d" "$mark"
		cd "$d/up" || exit 1
		if [ "$by" = 0 ]; then
			expect 0 "$WARDFS" run -- cat "$d/k"
		else
			expect 1 "$WARDFS" run -- cat "$d/k"
			has "$ERR" "No such file"
		fi
	done
done

# A directory of alice's in bob's: her file does not make his a project, and his does.
w=$WARD_TMP/w
mkdir -p "$w/proj/sub"
echo "bob's" >"$w/beside"
chown -R "$bob:$bob" "$w"
chown "$alice:$alice" "$w/proj/sub"
chosen alice "$w"
cd "$w/proj/sub" || exit 1
expect 1 "$WARDFS" run -- cat "$w/beside"
has "$ERR" "No such file"
expect 0 "$WARDFS" run -- sh -c 'id -u; test ! -e /workspace/sub'
has "$OUT" "$alice"
chosen bob "$w/proj" '[guard]
hide = held'
touch "$w/proj/held"
expect 0 "$WARDFS" run -- sh -c 'id -u; test -d /workspace/sub && test ! -e /workspace/held'
has "$OUT" "$bob"
