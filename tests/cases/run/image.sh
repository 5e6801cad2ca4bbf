#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [system] image and --image with a directory show its files, read-only, instead of the host's.
# The session's own mounts take precedence. wardfs refuses what would let a session reach the host
# or the next session.
set -eu
. "$WARD_SRC/tests/lib.sh"
work=$WARD_TMP/work
project "$work"
image=$WARD_TMP/image
mkdir -p "$image/bin" "$image/etc" "$image/usr/share" "$image/var/cache" "$image/opt"
cp /bin/busybox "$image/bin/busybox"
for applet in sh true cat ls id env touch mkdir ln mount readlink stat wget; do ln -s busybox "$image/bin/$applet"; done
printf 'the-image\n' >"$image/etc/os-release"
printf 'root:x:0:0::/root:/bin/sh\nimage-user:x:7:7::/:/bin/sh\n' >"$image/etc/passwd"
printf 'of the image\n' >"$image/opt/file"
chmod -R go-w "$image"
chmod 755 "$WARD_TMP"
cd "$work"

# Control: without it the host's own are there.
expect 0 "$WARDFS" run -- sh -c 'test -x /usr/bin/ldd || test -x /usr/bin/perl; cat /etc/os-release'
hasnt "$OUT" the-image

inside() {
	expect 0 "$WARDFS" run --image "$image" -- sh -c "$1"
}
inside 'cat /etc/os-release /opt/file; id -u; ls /usr'
has "$OUT" the-image
has "$OUT" 'of the image'
has "$OUT" share
hasnt "$OUT" lib
# Never root, and the accounts are the session's own.
inside 'id -u; cat /etc/passwd'
case $OUT in 0*) fail "root inside: $OUT" ;; esac
hasnt "$OUT" image-user
# Where a command needs to write it can; the image it cannot change; the project it can.
# shellcheck disable=SC2016 # the shell inside expands it
inside 'for d in /tmp /var/tmp /run /dev/shm "$HOME" /workspace; do touch $d/x || exit 1; done'
[ -e x ] || fail 'the project was not written to'
for place in /bin/sh /opt/file /opt/new /etc/new /usr/new /var/cache/new /new; do
	expect 1 "$WARDFS" run --image "$image" -- sh -c "echo no >>$place"
	[ -n "$ERR" ] || fail "$place"
done
[ "$(cat "$image/opt/file")" = 'of the image' ] || fail 'the image changed'

# The PATH of the host means nothing there.
PATH=$PATH:/nowhere/of/the/host inside env
hasnt "$OUT" /nowhere/of/the/host
hasnt "$OUT" /etc/ssl

# Files that the image lacks are not found there, and the advice is not about the host.
expect 127 "$WARDFS" run --image "$image" -- perl -v
has "$ERR" "not found in the image $image"

# A name without a path is of the store; what lies here under that name is named as a path.
mkdir "$WARD_TMP/beside"
cp -r "$image" "$WARD_TMP/beside/debian"
: >"$WARD_TMP/beside/packed"
(
	cd "$WARD_TMP/beside" || exit 1
	mkdir of
	cd of || exit 1
	expect 2 "$WARDFS" run --image debian -- true
	hasnt "$ERR" './debian'
	cd ..
	expect 2 "$WARDFS" run --image debian -- true
	has "$ERR" "for the directory of that name here: --image ./debian"
	expect 2 "$WARDFS" run --image packed -- true
	has "$ERR" "for the file of that name here: wardfs image pull ./packed"
)

# A policy names it, relative to its file; none takes it away; the flag takes its place.
printf '[policy]\nversion = 1\nextends = medium\n[system]\nimage = ./image\n' >"$WARD_TMP/p.policy"
expect 0 "$WARDFS" run -p "$WARD_TMP/p.policy" -- cat /etc/os-release
has "$OUT" the-image
expect 0 "$WARDFS" run -p "$WARD_TMP/p.policy" --image none -- cat /etc/os-release
hasnt "$OUT" the-image

# The trail names it.
expect 0 "$WARDFS" run --image "$image" --session pictured -- true
expect 0 "$WARDFS" audit show pictured --json
has "$OUT" '"view":"image"'
has "$OUT" "\"path\":\"$image\""
has "$OUT" '"result":"held"'
expect 0 "$WARDFS" run --dry-run --image "$image" -- sh
has "$OUT" "of the image, read-only, at /: $image"

# A link of the image leads to what is inside, never to the host's.
printf 'of the host\n' >"$WARD_TMP/host-only"
ln -s "$WARD_TMP/host-only" "$image/opt/out"
ln -s "$WARD_TMP" "$image/srv"
expect 1 "$WARDFS" run --image "$image" -- cat /opt/out
has "$ERR" 'No such file'
expect 1 "$WARDFS" run --image "$image" -- cat /srv/host-only
has "$ERR" 'No such file'
# The same where the session has its own: an image whose /etc or /var leads elsewhere.
linked=$WARD_TMP/linked
cp -a "$image" "$linked"
mv "$linked/etc" "$linked/opt/etc"
ln -s /opt/etc "$linked/etc"
rm -r "${linked:?}/var"
ln -s /etc "$linked/var"
expect 0 "$WARDFS" run --image "$linked" -- sh -c 'cat /etc/passwd; ls -l /; touch /var/tmp/x'
hasnt "$OUT" image-user
hasnt "$OUT" 'etc ->'
ln -s "$WARD_TMP" "$linked/usr2"
mv "$linked/usr" "$linked/opt/usr"
ln -s /etc "$linked/usr"
expect 0 "$WARDFS" run --image "$linked" -- ls -l /usr/passwd
[ ! -e "$linked/opt/etc/hostname" ] || fail 'the session wrote into the image'

# Directories that are no image, and images that would show or contain files of wardfs.
refuse() {
	expect 2 "$WARDFS" run --image "$1" -- true
	has "$ERR" "$2"
}
mkdir -p "$WARD_TMP/empty" "$work/inside"
cp -a "$image" "$work/inside/image"
refuse "$WARD_TMP/empty" 'has neither usr nor bin'
refuse "$work/inside/image" 'lies in the tree /workspace'
# The session could choose by a link what the next one sees of the host.
ln -s "$image" "$work/link"
expect 125 "$WARDFS" run --image "$work/link" -- true
has "$ERR" 'leads out of the tree /workspace'
printf '[policy]\nversion = 1\nextends = medium\n[system]\nimage = %s\n' "$work/link" >"$WARD_TMP/by-link"
expect 125 "$WARDFS" run --policy "$WARD_TMP/by-link" -- true
has "$ERR" 'leads out of the tree /workspace'
rm "$work/link"
# Control: a link where no session writes.
ln -s "$image" "$WARD_TMP/link"
expect 0 "$WARDFS" run --image "$WARD_TMP/link" -- true
refuse / 'without any rule'
refuse "$WARD_TMP/absent" 'No such file'
refuse "$image/opt/file" 'wardfs image pull'
refuse /dev/null 'is neither a directory nor an archive'
refuse '-x' 'names no image'
refuse 'a b' 'names no image'
refuse 'debian:12' 'wardfs image pull debian:12'
mkdir -p "$image/opt/project"
project "$image/opt/project"
(cd "$image/opt/project" && refuse "$image" 'holds the tree /workspace')
rm -r "$image/opt/project"

# As root: nobody else may choose what runs. Control: before chmod it starts, above.
chmod 777 "$image/opt"
refuse "$image" 'another user can change'
chmod 755 "$image/opt"
chown 4711 "$image/bin"
refuse "$image" 'another user can change'
chown 0 "$image/bin"
mkdir -m 777 "$WARD_TMP/all"
cp -a "$image" "$WARD_TMP/all/image"
refuse "$WARD_TMP/all/image" 'another user can change'
chmod 1777 "$WARD_TMP/all"
expect 0 "$WARDFS" run --image "$WARD_TMP/all/image" -- true

# Nobody has looked at a mount in the image. It does not show where the session has its own.
mount -t tmpfs none "$image/opt"
mounted=$(expect 2 "$WARDFS" run --image "$image" -- true && printf %s "$ERR") || {
	umount "$image/opt"
	fail 'a mount in the image'
}
umount "$image/opt"
has "$mounted" 'something is mounted on'

# Other modes, and a list of programs, cannot have one.
refused "mode 'process' does not support images" "$WARDFS" run --mode process --image "$image" -- true
printf '[policy]\nversion = 1\nextends = medium\n[process]\nexec = /bin/busybox\n' >"$WARD_TMP/exec.policy"
refused '[process] exec lists programs of this host' \
	"$WARDFS" run -p "$WARD_TMP/exec.policy" --image "$image" -- true

# A repository cannot choose one.
printf '[policy]\nversion = 1\n[system]\nimage = %s\n' "$image" >.wardfs.policy
expect 2 "$WARDFS" run -- true
has "$ERR" .wardfs.policy
rm .wardfs.policy
expect 0 "$WARDFS" run -- true

# An ordinary user has one of their own, with the same view.
chmod 755 "$WARD_TMP" "$image"
# shellcheck disable=SC2016 # the user's shell expands it
as_user -c '
	mkdir -p p
	git init -q p
	cd p
	"$WARDFS" run --image "$0" -- sh -c "cat /etc/os-release; touch /tmp/x; id -u"' "$image" >"$WARD_TMP/user" 2>&1 ||
	fail "an ordinary user: $(cat "$WARD_TMP/user")"
has "$(cat "$WARD_TMP/user")" the-image
has "$(cat "$WARD_TMP/user")" 4711
