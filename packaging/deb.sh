#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD OUT: writes a Debian package of what the build directory BUILD installs into OUT.
set -eu

build=$1
out=$2
src=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
umask 022
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

version=$(sed -n "s/^  version: '\([0-9.]*\)',$/\1/p" "$src/meson.build")
architecture=$(dpkg --print-architecture)
# The date of the sources, so that the same sources give the same package.
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
	SOURCE_DATE_EPOCH=$(git -C "$src" log -1 --format=%ct 2>/dev/null || stat -c %Y "$src/NEWS.md")
fi
export SOURCE_DATE_EPOCH

root=$tmp/root
mkdir "$root"
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
[ -x "$root/usr/bin/wardfs" ] || {
	echo "deb.sh: $build does not install into /usr" >&2
	exit 1
}
# For those who link against it, from a build of their own.
rm -rf "$root/usr/include"
find "$root/usr/lib" -path '*wardpolicy*' -delete
find "$root/usr/lib" -depth -type d -empty -delete
# Where the zsh of Debian looks.
if [ -d "$root/usr/share/zsh/site-functions" ]; then
	mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
fi
# Scripts are among them; a program begins with the magic of ELF.
programs=$(cd "$tmp" && find root/usr/bin root/usr/libexec -type f -exec sh -c '
	for file; do
		[ "$(head -c 4 "$file" | od -An -c | tr -d " ")" != "177ELF" ] || echo "$file"
	done' sh {} +)
# shellcheck disable=SC2086 # programs of ours: names without blanks
(cd "$tmp" && strip --strip-unneeded $programs)

doc=$root/usr/share/doc/wardfs
mkdir -p "$doc"
cp "$src/README.md" "$src/SECURITY.md" "$doc/"
cp "$src"/docs/*.md "$doc/"
gzip -9nc "$src/NEWS.md" >"$doc/changelog.gz"
{
	printf 'Source: the repository that this package was built from\n\nLicense: Apache-2.0\n\n'
	cat "$src/LICENSE"
	if [ -e "$root/usr/libexec/wardfs/wardfs-quickjs" ]; then
		printf '\nusr/libexec/wardfs/wardfs-quickjs contains QuickJS-ng as quickjs-wasi has it:\n\n'
		cat "$src/build-quickjs/LICENSE"
	fi
} >"$doc/copyright"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
chmod -R u=rwX,go=rX "$root"

# dpkg-shlibdeps wants a source package around it.
mkdir -p "$tmp/debian"
printf 'Source: wardfs\nMaintainer: x\n\nPackage: wardfs\nArchitecture: any\nDescription: x\n' \
	>"$tmp/debian/control"
# shellcheck disable=SC2086 # as above
depends=$(cd "$tmp" && dpkg-shlibdeps -O $programs |
	sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ]

mkdir "$root/DEBIAN"
sed -e "s|@VERSION@|$version|" -e "s|@ARCHITECTURE@|$architecture|" -e "s|@DEPENDS@|$depends|" \
	-e "s|@SIZE@|$(du -sk --apparent-size "$root/usr" | cut -f 1)|" \
	"$src/packaging/control.in" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$out"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/wardfs_${version}_$architecture.deb" >&2
echo "$out/wardfs_${version}_$architecture.deb"
