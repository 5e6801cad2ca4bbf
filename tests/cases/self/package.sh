#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Debian package: its contents. With --long, `./bootstrap package` builds it, and in a
# debootstrapped Debian 12 it works: doctor, a command, a refusal, a trail that verifies.
# timeout: 1800
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
. "$WARD_SRC/tests/cases/self/lib/deb.sh"
for tool in dpkg-deb dpkg-shlibdeps strip meson; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
copy_sources source
export SOURCE_DATE_EPOCH=1700000000

if [ -z "${WARD_LONG-}" ]; then
	as_installed
	build=$WARD_BUILD_TREE
else
	build=$PWD/build
	meson setup "$build" source -Dtests=disabled --prefix=/usr --libexecdir=libexec -Ddebug=false >log 2>&1 ||
		fail "setup: $(tail -n 20 log)"
	ninja -C "$build" >log 2>&1 || fail "build: $(tail -n 20 log)"
fi
expect 0 sh source/packaging/deb.sh "$build" "$PWD/out"
package=$OUT
[ -s "$package" ] || fail "no package: $OUT $ERR"
expect 0 sh source/packaging/deb.sh "$build" "$PWD/again"
cmp "$package" again/*.deb || fail "the same sources give another package"

expect 0 dpkg-deb -c "$package"
for one in usr/bin/wardfs usr/libexec/wardfs/wardfs-init usr/share/man/man1/wardfs.1.gz \
	usr/share/bash-completion/completions/wardfs usr/share/doc/wardfs/copyright; do
	has "$OUT" " ./$one
"
done
for one in include libwardpolicy " ./etc" " ./var"; do
	hasnt "$OUT" "$one"
done
# Nobody's setuid, nobody else's files, nothing that only its maker may read.
printf '%s\n' "$OUT" | grep -v '^[d-]rw[x-]r-[x-]r-[x-] root/root ' && fail "modes and owners"
expect 0 dpkg-deb --info "$package"
has "$OUT" "Package: wardfs"
has "$OUT" "Version: $("$WARDFS" --version | sed -n 's/^wardfs //p')"
has "$OUT" "libfuse3-3 (>="
has "$OUT" "libc6 (>="
hasnt "$OUT" "postinst"
if [ -n "${WARD_LONG-}" ] && command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error "$package" >lintian.log || fail "lintian: $(cat lintian.log)"
fi
mkdir unpacked
dpkg-deb -R "$package" unpacked
(cd unpacked && md5sum --quiet -c DEBIAN/md5sums) || fail "md5sums"
# Purged, the package leaves what it did not bring: state and settings, all of which docs/upgrade.md
# names.
dpkg_root scratch
kept='/etc/wardfs /var/lib/wardfs /var/lib/wardfs-audit'
for dir in $kept; do
	mkdir -p "scratch$dir"
	echo kept >"scratch$dir/file"
	grep -q "^rm -r .*$dir\( \|$\)" "$WARD_SRC/docs/upgrade.md" || fail "docs/upgrade.md does not remove $dir"
done
into scratch -i "$package"
[ -x scratch/usr/bin/wardfs ] || fail "not installed: $(cat dpkg.log)"
into scratch -P wardfs
left=$(find scratch -path scratch/var/lib/dpkg -prune -o -type f -print | sort | tr '\n' ' ')
[ "$left" = "scratch/etc/wardfs/file scratch/var/lib/wardfs-audit/file scratch/var/lib/wardfs/file " ] || fail "left: $left"
[ -n "${WARD_LONG-}" ] || exit 0

# --- in a Debian 12 of its own ---

. "$WARD_SRC/tests/cases/self/lib/debian.sh"
debian
cp "$package" "$root/wardfs.deb"
cat >"$root/steps.sh" <<'END'
set -eux
export LC_ALL=C DEBIAN_FRONTEND=noninteractive HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
case $1 in
install)
	apt-get install -q -y --no-install-recommends /wardfs.deb
	exit
	;;
esac
wardfs --version
wardfs doctor
mkdir -p /srv/proj && cd /srv/proj
wardfs run -- true
echo secret >.env
if wardfs run -- cat .env 2>refused; then exit 1; fi
grep -q 'had looked for /workspace/.env' refused
wardfs audit denials --expected | grep -q '\.env'
wardfs audit verify --all
man=/usr/share/man/man1/wardfs.1.gz
[ -s $man ]
# an ordinary user of it
useradd -m somebody
su somebody -c 'mkdir ~/proj && cd ~/proj && wardfs doctor && wardfs run -- sh -c "echo made >made; id -u" &&
	cat made && wardfs audit verify'
apt-get remove -q -y wardfs
[ ! -e /usr/bin/wardfs ] && [ ! -e /usr/libexec/wardfs ]
END
inside install
inside smoke
grep -q "This host can run the default policy" log || fail "doctor: $(cat log)"
exit 0
