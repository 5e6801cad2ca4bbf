#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recipes for other package managers, RPM and Arch, as far as Debian's rpmbuild, rpmlint and
# makepkg can check them: each makes a package of the sources, with the same files as the Debian
# package. With --long they really build it; otherwise they take the build that is there.
# timeout: 3600
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
. "$WARD_SRC/tests/cases/self/lib/deb.sh"
for tool in rpmbuild rpmlint makepkg bsdtar fakeroot strip meson; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
export SOURCE_DATE_EPOCH=1700000000
copy_sources source
version=$("$WARDFS" --version | sed -n 's/^wardfs //p')
machine=$(uname -m)
[ -n "${WARD_LONG-}" ] || as_installed

echo "--- sources and recipes; the same bytes a second time"
expect 0 sh source/packaging/recipes.sh "$PWD/recipes"
expect 0 sh source/packaging/recipes.sh "$PWD/again"
for one in "wardfs-$version.tar.gz" wardfs.spec PKGBUILD; do
	[ -s "recipes/$one" ] || fail "no $one"
	cmp "recipes/$one" "again/$one" || fail "$one differs"
done
if grep '@[A-Z0-9]*@' recipes/wardfs.spec recipes/PKGBUILD; then fail "not filled in"; fi
expect 0 tar -tzf "recipes/wardfs-$version.tar.gz"
has "$OUT" "wardfs-$version/meson.build"
hasnt "$OUT" "wardfs-$version/build/"

echo "--- RPM"
# What systemd-rpm-macros says on the distributions that have it.
rpmbuild -bb --nodeps --define '_unitdir /usr/lib/systemd/system' \
	--define '_sysusersdir /usr/lib/sysusers.d' --define '_tmpfilesdir /usr/lib/tmpfiles.d' --define "_topdir $PWD/rpm" --define "_sourcedir $PWD/recipes" \
	--define "_tmppath $PWD/rpm" recipes/wardfs.spec >log 2>&1 || fail "rpmbuild: $(tail -n 30 log)"
package=$(find rpm/RPMS -name '*.rpm')
[ -s "$package" ] || fail "no package: $(tail -n 30 log)"
[ "${package##*/}" = "wardfs-$version-1.$machine.rpm" ] || fail "its name: $package"
expect 0 rpm -qp --qf '[%{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILENAMES}\n]' "$package"
printf '%s\n' "$OUT" | grep -v '^[d-]rw[x-]r-[x-]r-[x-] root root /usr/' && fail "modes and owners"
printf '%s\n' "$OUT" | sed -n 's|^-[^/]*/||p' | sort >of-rpm
expect 0 rpmlint -c source/packaging/rpmlint.toml "$package" recipes/wardfs.spec
has "$OUT" " 0 errors"

echo "--- Arch"
# makepkg does nothing as root.
as_nobody=
if [ "$(id -u)" -eq 0 ]; then
	as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chown -R 65534:65534 recipes
	chmod 755 .
fi
(cd recipes && HOME=$PWD PKGEXT=.pkg.tar.zst $as_nobody makepkg --nodeps --noconfirm) >log 2>&1 ||
	fail "makepkg: $(tail -n 30 log)"
package=recipes/wardfs-$version-1-$machine.pkg.tar.zst
[ -s "$package" ] || fail "no package: $(tail -n 30 log)"
tar --zstd -tvf "$package" >list
grep -v ' \.[A-Z]*$' list | grep -v '^[d-]rw[x-]r-[x-]r-[x-] root/root ' && fail "modes and owners"
sed -n 's|^-.* usr/|usr/|p' list | sort >of-arch
tar --zstd -xOf "$package" .PKGINFO >info
grep -q "^pkgver = $version-1$" info || fail "$(cat info)"

echo "--- the same files in both: what the build installs for everybody"
grep -v '^usr/share/licenses/' of-arch | cmp - of-rpm || fail "$(diff of-arch of-rpm)"
for one in usr/bin/wardfs usr/libexec/wardfs/wardfs-init usr/share/man/man1/wardfs.1.gz; do
	grep -qx "$one" of-rpm || fail "$one is missing"
done
if grep libwardpolicy of-rpm; then fail "what only those need who link against wardfs"; fi
