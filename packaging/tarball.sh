#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tarball.sh BUILD OUT: writes wardfs-VERSION-linux-ARCH.tar.zst of what the build directory BUILD
# installs into OUT. BUILD has static programs (-Dprefer_static=true) and the prefix /usr/local.
# shellcheck disable=SC1091,SC2034,SC2154 # of stage.sh
set -eu

build=$1
out=$2
. "$(dirname -- "$(readlink -f -- "$0")")/stage.sh"
begin
stage /usr/local "$src/LICENSE"
for one in $programs; do
	! readelf -Wl "$top/$one" | grep -q INTERP || {
		echo "tarball.sh: $one is not static: configure $build with -Dprefer_static=true" >&2
		exit 1
	}
done

# The libraries in the programs have terms of their own.
mkdir "$doc/licenses"
linked=$(grep -oE '/[a-z0-9_/.-]+/lib[a-zA-Z0-9_.+-]+\.a' "$build/build.ninja" | LC_ALL=C sort -u)
# shellcheck disable=SC2086 # paths of libraries: names without blanks
for package in $(dpkg-query -S $linked 2>/dev/null | sed 's/:.*//' | LC_ALL=C sort -u); do
	cp "/usr/share/doc/$package/copyright" "$doc/licenses/$package"
done
[ -s "$doc/licenses/libc6-dev" ]

name=wardfs-$version-linux-$architecture
mkdir "$tmp/$name"
mv "$top" "$tmp/$name/files"
cp "$src/packaging/install.sh" "$tmp/$name/"
common_modes "$tmp/$name"
chmod 755 "$tmp/$name/install.sh"
(cd "$tmp/$name/files" && find . -type f | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum) \
	>"$tmp/$name/SHA256SUMS"
common_modes "$tmp/$name"
tar -C "$tmp" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner -cf "$tmp/tar" "$name"
zstd -q -f -19 -T1 "$tmp/tar" -o "$out/$name.tar.zst"
echo "$out/$name.tar.zst"
