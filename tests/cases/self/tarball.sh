#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tarball: its contents, what install.sh puts where, an upgrade, a removal. With --long, static
# programs are built, twice to the same bytes, and work in a debootstrapped Debian 11.
# timeout: 3600
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
for tool in dpkg-query readelf strip meson zstd; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
copy_sources source
export SOURCE_DATE_EPOCH=1700000000

echo "--- programs find each other below any prefix"
mkdir -p moved/bin moved/libexec/wardfs project
cp "$WARD_BUILD_TREE/wardfs" moved/bin/
(cd project && refused "moved/libexec/wardfs/wardfs-" ../moved/bin/wardfs run -- true)
find "$WARD_BUILD_TREE" -maxdepth 1 -type f -perm -100 -name 'wardfs-*' -exec cp {} moved/libexec/wardfs/ ';'
(cd project && expect 0 ../moved/bin/wardfs run -- sh -c 'echo made >made')
[ "$(cat project/made)" = made ] || fail "it did not run"

# Prints what doctor says of AppArmor where that restricts ordinary users.
restricted() {
	unshare -m sh -c 'mount -t tmpfs wardfs-test /proc/sys/kernel &&
		echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns &&
		mount -t tmpfs wardfs-test /mnt && mkdir /mnt/moved && mount --bind moved /mnt/moved &&
		exec setpriv --reuid 1234 --regid 1234 --clear-groups /mnt/moved/bin/wardfs doctor' >doctor.log || :
	grep '^unusable  *apparmor' -A 1 doctor.log
}
if [ "$(id -u)" -eq 0 ]; then
	echo "--- doctor names the profile of its own prefix"
	has "$(restricted)" "install -m 644 /mnt/moved/share/wardfs/apparmor/wardfs /etc"
fi

# make DIR: static programs, built in DIR as ./bootstrap does it.
make() {
	(cd "$1" && meson setup build-tarball . -Dtests=disabled --libexecdir=libexec -Ddebug=false \
		--prefix=/usr/local -Dprefer_static=true -Dwasm=disabled &&
		ninja -C build-tarball) >log 2>&1 || fail "build: $(tail -n 20 log)"
}

if [ -z "${WARD_LONG-}" ]; then
	# The one program that is static in each build, under the names of others.
	mkdir fake fake-build
	cat >fake/meson <<-'END'
		#!/bin/sh
		set -e
		b=$WARD_BUILD_TREE i=install d=$DESTDIR/usr/local
		$i -D -m 755 "$b/${PROGRAM-wardfs-init}" "$d/bin/wardfs"
		$i -D -m 755 "$b/wardfs-init" "$d/libexec/wardfs/wardfs-init"
		$i -D -m 600 "$WARD_SRC/docs/man/wardfs.1" "$d/share/man/man1/wardfs.1"
		$i -D -m 644 "$b/conf/wardfs-audit.service" "$d/lib/systemd/system/wardfs-audit.service"
		$i -D -m 644 "$b/conf/wardfs.apparmor" "$d/share/wardfs/apparmor/wardfs"
		$i -D -m 644 /dev/null "$d/include/wardpolicy/x.h"
	END
	chmod +x fake/meson
	PATH=$PWD/fake:$PATH
	build=$PWD/fake-build
	lib=/usr/lib/$(gcc -print-multiarch)
	echo "build x: link $lib/libm.a $lib/libzstd.a" >fake-build/build.ninja
	echo "--- a program that takes libraries of the host is refused"
	PROGRAM=wardfs refused "bin/wardfs is not static" sh source/packaging/tarball.sh "$build" "$PWD/out"
else
	make source
	build=$PWD/source/build-tarball
	mkdir elsewhere
	cp -a source elsewhere/of-another-name
	rm -rf elsewhere/of-another-name/build-tarball
	make elsewhere/of-another-name
fi
expect 0 sh source/packaging/tarball.sh "$build" "$PWD/out"
tarball=$OUT
second=$build
[ -z "${WARD_LONG-}" ] || second=$PWD/elsewhere/of-another-name/build-tarball
expect 0 sh source/packaging/tarball.sh "$second" "$PWD/again"
cmp "$tarball" "$OUT" || fail "the same sources give another tarball"
version=$("$WARDFS" --version | sed -n 's/^wardfs //p')
name=wardfs-$version-linux-$(dpkg --print-architecture)
[ "${tarball##*/}" = "$name.tar.zst" ] || fail "its name: $tarball"

expect 0 tar --zstd -tvf "$tarball"
for one in install.sh SHA256SUMS files/bin/wardfs files/libexec/wardfs/wardfs-init \
	files/share/man/man1/wardfs.1.gz files/share/doc/wardfs/licenses/libc6-dev \
	files/share/doc/wardfs/licenses/libzstd-dev; do
	has "$OUT
" " $name/$one
"
done
hasnt "$OUT" include
printf '%s\n' "$OUT" | grep -v '^[d-]rw[x-]r-[x-]r-[x-] 0/0 ' && fail "modes and owners"

echo "--- whatever the umask of who unpacks it and of who installs it"
(umask 077 && tar --zstd -xf "$tarball")
installer=$PWD/$name/install.sh
(umask 077 && DESTDIR=$PWD/root "$installer" >log)
has "$(cat log)" "/usr/local/bin/wardfs doctor"
to=$PWD/root/usr/local
(cd "$name/files" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >expected
cmp expected "$to/share/wardfs/installed" || fail "the list of what was installed"
while read -r file; do
	[ -f "$to/$file" ] || fail "not installed: $file"
	case $(stat -c %a "$to/$file") in 644 | 755) ;; *) fail "mode of $file" ;; esac
done <expected
find "$to" -type d ! -perm 755 | grep . && fail "directories that others cannot enter"
grep -q "^ExecStart=/usr/local/libexec/wardfs/" "$to/lib/systemd/system/wardfs-audit.service" ||
	fail "the service: $(cat "$to/lib/systemd/system/wardfs-audit.service")"

echo "--- an upgrade leaves a program that runs as it is, and removes what is gone"
exec 9<"$to/bin/wardfs"
echo old >"$to/share/wardfs/of-an-older-version"
echo share/wardfs/of-an-older-version >>"$to/share/wardfs/installed"
echo mine >"$to/share/wardfs/not-ours"
DESTDIR=$PWD/root "$installer" >log
cmp - "$to/bin/wardfs" <&9 || fail "the open file changed"
[ "$(stat -Lc %i /dev/fd/9)" != "$(stat -c %i "$to/bin/wardfs")" ] || fail "written in place"
exec 9<&-
[ ! -e "$to/share/wardfs/of-an-older-version" ] || fail "a file of an older version is still there"

echo "--- removed: what it installed, and nothing else"
DESTDIR=$PWD/root "$installer" --uninstall >log 2>&1
[ ! -s log ] || fail "it said: $(cat log)"
left=$(find root ! -type d)
[ "$left" = root/usr/local/share/wardfs/not-ours ] || fail "left: $left"
[ -d "$to/bin" ] && [ -d "$to/share/man/man1" ] && [ ! -d "$to/libexec/wardfs" ] || fail "directories"
refused "nothing to remove" env DESTDIR="$PWD/root" "$installer" --uninstall

echo "--- another prefix; the files that name it"
DESTDIR=$PWD/root "$installer" --prefix /opt/wardfs >log
for file in lib/systemd/system/wardfs-audit.service share/wardfs/apparmor/wardfs; do
	grep -q /opt/wardfs/libexec/wardfs/ "root/opt/wardfs/$file" || fail "$file does not name it"
	grep /usr/local "root/opt/wardfs/$file" && fail "$file names another prefix"
done
for bad in relative "/with space" "/a|b" /end/ ""; do
	if DESTDIR=$PWD/root "$installer" --prefix "$bad" >log 2>&1; then fail "took the prefix '$bad'"; fi
done

echo "--- a file that is not as it was packed: nothing is installed"
echo x >>"$name/files/share/man/man1/wardfs.1.gz"
refused "share/man/man1/wardfs.1.gz: FAILED" env DESTDIR="$PWD/none" "$installer"
[ ! -e none ] || fail "installed all the same"
[ -n "${WARD_LONG-}" ] || exit 0

# --- in a Debian 11 of its own ---

. "$WARD_SRC/tests/cases/self/lib/debian.sh"
debian bullseye
rm -rf "${PWD:?}/$name"
tar --zstd -xf "$tarball" -C "$root"
mv "$root/$name" "$root/wardfs-tarball"
cat >"$root/steps.sh" <<'END'
set -eux
export LC_ALL=C HOME=/root PATH=/opt/wardfs/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# works: run, refusal, trail, as the caller
works() {
	wardfs doctor | grep 'This host can run the default policy'
	wardfs run -- sh -c 'echo made >made'
	[ "$(cat made)" = made ]
	echo secret >.env
	if wardfs run -- cat .env 2>refused; then exit 1; fi
	grep 'had looked for /workspace/.env' refused
	wardfs audit denials --expected | grep '\.env'
	wardfs audit verify --all
}
# The libc of this host may name other places for accounts: no library of it is loaded.
sed -i 's/^\(passwd\|group\|hosts\):.*/\1: files nowhere/' /etc/nsswitch.conf
useradd -m somebody
for prefix in /usr/local /opt/wardfs; do
	/wardfs-tarball/install.sh --prefix $prefix
	hash -r
	[ "$(command -v wardfs)" = $prefix/bin/wardfs ]
	mkdir -p /srv$prefix && cd /srv$prefix
	works
	su somebody -c "mkdir -p ~$prefix && cd ~$prefix && PATH=$PATH && $(sed -n '/^works()/,/^}/p' /steps.sh)
		set -ex; works; wardfs run -- id -un" | tail -n 1 | grep somebody
	/wardfs-tarball/install.sh --uninstall --prefix $prefix
	[ ! -e $prefix/bin/wardfs ] && [ ! -e $prefix/libexec/wardfs ] && [ ! -e $prefix/share/wardfs ]
done
END
inside tarball
exit 0
