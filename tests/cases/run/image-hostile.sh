#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Images that attack the unpacker. wardfs refuses each with its reason and leaves nothing in the
# store or beside it. The good image, made in the same way, is unpacked.
set -eu
. "$WARD_SRC/tests/lib.sh"
export XDG_STATE_HOME="$WARD_TMP/state"
images=$WARD_SRC/tests/cases/run/lib/images.py
store=$XDG_STATE_HOME/wardfs/images
cd "$WARD_TMP"

make() {
	python3 "$images" "$1" "$WARD_TMP/$1"
}

# Whatever a name leads out to would be here, or in /tmp, which the test looks at by a name of its
# own.
outside() {
	find "$WARD_TMP" -path "$WARD_TMP/evil" -prune -o -name 'escaped*' -print
	find /tmp -maxdepth 1 -name escaped -newer "$WARD_TMP/mark" -print
}
touch "$WARD_TMP/mark"

# Control.
make oci
expect 0 "$WARDFS" image pull ./oci
good=$OUT
hasnt "$ERR" setuid
[ -d "$store/${good#sha256:}/rootfs/bin" ] || fail 'the good image is not in the store'
count() {
	find "$store" -maxdepth 1 -name '[0-9a-f]*' | wc -l
}
before=$(count)

# hostile KIND TEXT: is refused with the text.
hostile() {
	make "$1"
	expect 1 "$WARDFS" image pull "./$1"
	has "$ERR" "$2"
	[ "$(count)" -eq "$before" ] || fail "$1: it came into the store"
	[ -z "$(find "$store" -maxdepth 1 -name '.new-*')" ] || fail "$1: it left something"
	out=$(outside)
	[ -z "$out" ] || fail "$1: $out"
	rm -rf "${WARD_TMP:?}/$1"
}
hostile dotdot 'the name opt/../../../escaped'
hostile dotdot-first 'the name ../escaped'
hostile absolute 'the absolute name /escaped'
hostile link-through 'leads through a link'
hostile link-through-relative 'leads through a link'
hostile hardlink-out 'the name ../../../etc/passwd'
hostile hardlink-absolute 'the absolute name /etc/passwd'
hostile hardlink-through 'leads through a link'
hostile hardlink-absent 'which it does not contain'
hostile whiteout-dotdot 'contains the invalid whiteout'
hostile whiteout-empty 'contains the invalid whiteout'
# An image from which no session could start is not stored either.
for kind in $(python3 "$images" wrong); do
	hostile "$kind" 'in the configuration of the image is not valid'
	expect 0 "$WARDFS" image list
	hasnt "$OUT" "$kind"
done
touch /tmp/victim.$$
hostile whiteout-through 'leads through a link'
[ -e /tmp/victim.$$ ] || fail 'a whiteout removed a file of the host'
rm /tmp/victim.$$
hostile deep 'too long or too deep'
hostile long 'too long or too deep'
hostile digest 'has another digest'
hostile digest-manifest 'has another digest'
hostile digest-path 'does not name an image by SHA-256'
hostile docker-swapped 'has another digest'
hostile docker-link 'which is neither a file nor a directory'
hostile docker-old-name 'x/layer.tar'
hostile docker-huge-manifest 'longer than 4 MiB'
hostile huge-index 'longer than 4 MiB'
hostile no-image 'this is not an image'
hostile garbage 'the archive'
hostile cycle 'more than 4 levels'
hostile layers 'more than 128 layers'
hostile blob-link 'Too many levels of symbolic links'
hostile bomb 'takes it for a compression bomb'

# Files that no session gets are left out, and a line says so.
make odd
expect 0 "$WARDFS" image pull ./odd
has "$ERR" 'setuid and setgid bits and file capabilities from 2 files'
has "$ERR" '2 devices, pipes or sockets'
root=$store/${OUT#sha256:}/rootfs/opt
[ "$(stat -c %a "$root/setuid")" = 755 ] || fail 'setuid'
[ "$(stat -c %a "$root/sticky")" = 1777 ] || fail 'setgid'
[ -z "$(getfattr -d -m - "$root/capable" 2>/dev/null)" ] || fail 'extended attributes'
[ -z "$(find "$root" -type b -o -type c -o -type p -o -type s)" ] || fail 'a device'

# Directories that only names imply count as files.
make implied
expect 0 "$WARDFS" image pull --json ./implied
n=$(printf '%s' "$OUT" | python3 -c 'import json, sys; print(json.load(sys.stdin)["files"])')
[ "$n" -gt 182 ] || fail "the directories of names were not counted: $n"

# A layout that changes between the check of a layer and its unpacking, which reads it once more.
make plain
expect 1 python3 "$WARD_SRC/tests/cases/run/lib/swap-layer.py" ./plain the-image evil-file \
	"$WARDFS" image pull ./plain
has "$ERR" 'has another digest'
[ "$(grep -rl evil-file "$store" | wc -l)" -eq 0 ] || fail 'what nobody checked is in the store'
rm -r plain
# Control: the same reader, and a text that the layer does not have.
make plain
expect 0 python3 "$WARD_SRC/tests/cases/run/lib/swap-layer.py" ./plain no-such-text evil-text \
	"$WARDFS" image pull ./plain
rm -r plain

# The program that unpacks is confined before it reads: it has no way to the host. A trace shows
# its calls; control: it does its work under the trace.
make plain
strace -f -o "$WARD_TMP/trace" "$WARDFS" image pull ./plain >/dev/null
own=$(grep -m1 'execve(.*wardfs-image' "$WARD_TMP/trace" | cut -d' ' -f1)
grep "^$own " "$WARD_TMP/trace" | sed '1,/seccomp(SECCOMP_SET_MODE_FILTER/d' >"$WARD_TMP/confined"
grep -q '"layer\|openat2(' "$WARD_TMP/confined" || fail 'the trace shows nothing'
if grep -E '^[0-9]+ +(socket|execve|fork|clone|ptrace|mount|setuid|chown|mknod)' "$WARD_TMP/confined"; then
	fail 'calls that wardfs-image may not make'
fi
for text in 'pivot_root(' 'landlock_restrict_self(' 'capset(' 'PR_SET_NO_NEW_PRIVS'; do
	grep "^$own " "$WARD_TMP/trace" | grep -qF "$text" || fail "no $text"
done
