#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# recipes.sh OUT: writes wardfs-VERSION.tar.gz, the sources, into OUT, and beside it wardfs.spec
# (RPM) and PKGBUILD (Arch), which build a package of them.
# shellcheck disable=SC1091,SC2154 # of stage.sh
set -eu

out=$1
. "$(dirname -- "$(readlink -f -- "$0")")/stage.sh"
begin
name=wardfs-$version
if [ "$(git -C "$src" rev-parse --show-toplevel 2>/dev/null)" = "$src" ]; then
	git -C "$src" archive --format=tar --prefix="$name/" -o "$tmp/tar" HEAD
else # sources without their history
	mkdir "$tmp/$name"
	tar -C "$src" --exclude='./build*' --exclude=./.git --exclude=__pycache__ -cf - . | tar -C "$tmp/$name" -xf -
	common_modes "$tmp/$name"
	tar -C "$tmp" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner -cf "$tmp/tar" "$name"
fi
gzip -9nc "$tmp/tar" >"$out/$name.tar.gz"
digest=$(sha256sum <"$out/$name.tar.gz")
for one in wardfs.spec PKGBUILD; do
	sed -e "s|@VERSION@|$version|" -e "s|@SHA256@|${digest%% *}|" \
		-e "s|@DATE@|$(LC_ALL=C date -ud "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')|" \
		"$src/packaging/$one.in" >"$out/$one"
	echo "$out/$one"
done
