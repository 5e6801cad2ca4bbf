#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD OUT: writes a Debian package of what the build directory BUILD installs into OUT.
# shellcheck disable=SC1091,SC2034,SC2154 # of stage.sh
set -eu

build=$1
out=$2
. "$(dirname -- "$(readlink -f -- "$0")")/stage.sh"
begin
# Debian has the text of this license.
echo 'On Debian systems, it is in /usr/share/common-licenses/Apache-2.0.' >"$tmp/license"
stage /usr "$tmp/license"
maintainer=$(sed -n 's/^Maintainer: //p' "$src/packaging/control.in")
printf 'wardfs (%s) unstable; urgency=medium\n\n  * NEWS.md.gz says what changed.\n\n -- %s  %s\n' \
	"$version" "$maintainer" "$(LC_ALL=C date -uRd "@$SOURCE_DATE_EPOCH")" |
	gzip -9n >"$doc/changelog.gz"
# Where the zsh of Debian looks.
if [ -d "$top/share/zsh/site-functions" ]; then
	mv "$top/share/zsh/site-functions" "$top/share/zsh/vendor-completions"
fi

# dpkg-shlibdeps wants a source package around it.
mkdir -p "$tmp/debian"
printf 'Source: wardfs\nMaintainer: x\n\nPackage: wardfs\nArchitecture: any\nDescription: x\n' \
	>"$tmp/debian/control"
# shellcheck disable=SC2046,SC2086 # programs of ours: names without blanks
depends=$(cd "$tmp" && dpkg-shlibdeps -O $(printf 'root/usr/%s\n' $programs) |
	sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ]

mkdir "$root/DEBIAN"
install -m 755 "$src/packaging/prerm" "$src/packaging/postrm" "$root/DEBIAN/"
common_modes "$root"
sed -e "s|@VERSION@|$version|" -e "s|@ARCHITECTURE@|$architecture|" -e "s|@DEPENDS@|$depends|" \
	-e "s|@SIZE@|$(du -sk --apparent-size "$root/usr" | cut -f 1)|" \
	"$src/packaging/control.in" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
common_modes "$root"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/wardfs_${version}_$architecture.deb" >&2
echo "$out/wardfs_${version}_$architecture.deb"
