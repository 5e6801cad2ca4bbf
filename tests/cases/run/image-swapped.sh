#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs looks at a directory that serves as an image first. If it, or something in it, was
# swapped before the mount, the session does not start. A stand-in for wardfs-init swaps them.
set -eu
. "$WARD_SRC/tests/lib.sh"
chmod 755 "$WARD_TMP"
project p
mkdir -p image/bin image/usr other/bin other/usr swap
cp /bin/busybox image/bin/busybox
ln -s busybox image/bin/cat
echo 'of the image' >image/usr/file
cp -a image/bin/. other/bin
echo 'of the other' >other/usr/file
chmod -R go-w image other
cp "$WARD_BUILD"/wardfs "$WARD_BUILD"/wardfs-fs "$WARD_BUILD"/wardfs-audit swap/
cp "$WARD_BUILD"/wardfs-init swap/wardfs-init.real
cat >swap/wardfs-init <<END
#!/bin/sh
. "$WARD_TMP/swap/first"
exec "$WARD_TMP/swap/wardfs-init.real" "\$@"
END
chmod 755 swap/wardfs-init
cd p || exit 1
i=$WARD_TMP/image
o=$WARD_TMP/other

# shows STATUS FIRST: runs FIRST once everything was looked at, then a command in the session.
shows() {
	printf 'PATH=/usr/bin:/bin\n%s\n' "$2" >"$WARD_TMP/swap/first"
	expect "$1" "$WARD_TMP/swap/wardfs" run --image "$i" -- cat /usr/file
	hasnt "$OUT" 'of the other'
}

# The control: nothing is swapped, or something beside it.
shows 0 :
has "$OUT" 'of the image'
shows 0 "mv '$o' '$o.1'; mv '$o.1' '$o'"
has "$OUT" 'of the image'

shows 125 "mv '$i' '$i.1'; mv '$o' '$i'"
has "$ERR" 'somebody replaced'
mv "$i" "$o"
mv "$i.1" "$i"
shows 125 "mv '$i/usr' '$i/usr.1'; mv '$o/usr' '$i/usr'"
has "$ERR" "somebody replaced $i/usr of the host"
mv "$i/usr" "$o/usr"
mv "$i/usr.1" "$i/usr"
shows 125 "mv '$i/usr' '$i/usr.1'; ln -s '$o/usr' '$i/usr'"
has "$ERR" "$i/usr"
rm "$i/usr"
mv "$i/usr.1" "$i/usr"
shows 125 "mv '$i' '$i.1'; ln -s '$o' '$i'"
rm "$i"
mv "$i.1" "$i"
shows 0 :
