#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An upgrade of the Debian package while a session runs: the session goes on with the old programs,
# the next one has the new ones. Then a removal and a purge, and what each of them leaves.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
. "$WARD_SRC/tests/cases/self/lib/deb.sh"
[ "$(id -u)" -eq 0 ] || skip "dpkg takes root"
for tool in dpkg dpkg-deb dpkg-shlibdeps strip meson; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
export SOURCE_DATE_EPOCH=1700000000
as_installed
copy_sources source
new=$("$WARDFS" --version | sed -n 's/^wardfs //p')
old=$(echo "$new" | tr 1-9 0-8) # 0.1.0 of 0.2.0: as long, and older
expect 0 sh source/packaging/deb.sh "$WARD_BUILD_TREE" "$PWD/new"
package=$OUT
sed -i "s/^  version: '$new',$/  version: '$old',/" source/meson.build
expect 0 env VERSION="$old" sh source/packaging/deb.sh "$WARD_BUILD_TREE" "$PWD/old"
before=$OUT
[ "${before##*/}" = "wardfs_${old}_$(dpkg --print-architecture).deb" ] || fail "$before"

# Programs find each other below any prefix, so those of this root run here.
dpkg_root root
into root -i "$before"
installed=$PWD/root/usr/bin/wardfs
export XDG_STATE_HOME="$PWD/root/var/lib"
mkdir -p project root/etc/wardfs
: >root/etc/wardfs/floor.policy

# start NAME: a session that waits for the file NAME.go, in the background. Sets pid.
start() {
	(cd project && exec "$installed" run --session "$1" -- sh -c '
		echo "$1" >up.$1
		while [ ! -e $1.go ]; do sleep 0.1; done
		echo after >$1.after
		cat .env' sh "$1") >"$1.out" 2>"$1.err" &
	pid=$!
	wait_until 60 [ -s "project/up.$1" ] || fail "$1 did not start: $(cat "$1.err")"
}
# finish NAME PID: lets it end. It was refused what it had to be refused, and nothing else.
finish() {
	: >"project/$1.go"
	wait "$2" && rc=0 || rc=$?
	[ "$rc" = 1 ] || fail "$1: exit status $rc: $(cat "$1.out" "$1.err")"
	[ "$(cat "project/$1.after")" = after ] || fail "$1 did not go on"
	grep -q 'had looked for /workspace/.env' "$1.err" || fail "$1: the refusal: $(cat "$1.err")"
}
# version NAME: what its trail says of the program.
version() {
	"$WARDFS" audit show "$1" --json | sed -n '1,5s/.*"version":"\([0-9.]*\)".*/\1/p' | head -n 1
}
echo secret >project/.env

echo "--- an upgrade from $old to $new while a session runs"
has "$("$installed" --version)" "wardfs $old
"
start before
first=$pid
into root -i "$package"
has "$("$installed" --version)" "wardfs $new
"
[ "$(readlink "/proc/$first/exe")" = "$installed (deleted)" ] || fail "it runs $(readlink "/proc/$first/exe")"
has "$("$installed" ps)" before
(cd project && expect 0 "$installed" run --session next -- sh -c 'echo next >made')
[ "$(cat project/made)" = next ] || fail "the next session wrote nothing"
expect 0 "$installed" exec before -- sh -c 'echo exec >from-exec'
[ "$(cat project/from-exec)" = exec ] || fail "exec into the session that goes on"
finish before "$first"
[ "$(version before) $(version next)" = "$old $new" ] || fail "versions: $(version before), $(version next)"
expect 0 "$installed" audit verify --all
has "$OUT" intact

echo "--- a removal while a session runs: it goes on; no program is left"
start last
into root -r wardfs
[ -z "$(find root/usr -type f)" ] || fail "left: $(find root/usr -type f)"
finish last "$pid"
expect 0 "$WARDFS" audit verify --all
hasnt "$OUT" incomplete

echo "--- a purge: the links to units that are gone, and nothing of a user's"
into root -i "$package"
wants=root/etc/systemd/system/sockets.target.wants
mkdir -p "$wants"
ln -s /usr/lib/systemd/system/wardfs-audit.socket "$wants/wardfs-audit.socket"
ln -s /usr/lib/systemd/system/wardfs-host.socket "$wants/wardfs-host.socket"
ln -s /usr/lib/systemd/system/ssh.socket "$wants/ssh.socket"
into root -r wardfs
[ -L "$wants/wardfs-audit.socket" ] || fail "a removal forgets what was enabled"
into root -P wardfs
[ "$(ls "$wants")" = ssh.socket ] || fail "links: $(ls "$wants")"
[ -e root/etc/wardfs/floor.policy ] || fail "the floor is gone"
expect 0 "$WARDFS" audit verify --all
