#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libwardpolicy for other programs: installed, found by pkg-config, linked shared and static,
# without FUSE. It exports exactly the names in its map.
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v cc >/dev/null && command -v meson >/dev/null || skip "no compiler or no meson"

root=$PWD/root
DESTDIR=$root meson install --no-rebuild -C "$WARD_BUILD_TREE" >log 2>&1 || fail "$(cat log)"
pc=$(find "$root" -name wardpolicy.pc)
so=$(find "$root" -name 'libwardpolicy.so.0')
[ -n "$pc" ] && [ -n "$so" ] || fail "not installed: $(find "$root" -name '*wardpolicy*')"
if nm "$so" | grep -q __asan_init; then
	echo "a sanitized library wants the sanitizers of its program"
	exit 0
fi
# what it needs itself is the system's
PKG_CONFIG_PATH=${pc%/*}
export PKG_CONFIG_PATH
prefix=$(pkg-config --variable=prefix wardpolicy)
define="--define-variable=prefix=$root$prefix"
cflags=$(pkg-config "$define" --cflags wardpolicy)
libs=$(pkg-config "$define" --libs wardpolicy)
cp "$WARD_SRC/tests/support/third/third.c" .

# shellcheck disable=SC2086 # lists of options
cc -std=gnu17 -Wall -Werror $cflags -o third third.c $libs || fail "does not build"
readelf -d third >needed
grep -q 'libwardpolicy.so.0' needed || fail "linked otherwise: $(cat needed)"
export LD_LIBRARY_PATH="${so%/*}"
! ldd ./third | grep -qi fuse || fail "FUSE came along"

ask() {
	want=$1
	shift
	code=0
	"$@" >out 2>err || code=$?
	[ $code -eq "$want" ] || fail "$*: exit status $code: $(cat out err)"
}
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nread = /workspace/doc\n' >p
ask 0 ./third ./p write /workspace/src
ask 1 ./third ./p write /workspace/doc/x
grep -q ' deny .*/p:5$' out || fail "$(cat out)"
grep -q "write = /workspace/doc/x" out || fail "it does not say what would permit it: $(cat out)"
ask 1 ./third medium read /workspace/.env
grep -q ' hide medium:' out || fail "no profiles: $(cat out)"
echo nonsense >>p
ask 2 ./third ./p write /workspace/src
grep -q ':6: ' err || fail "the error has no line: $(cat err)"

echo "--- static"
archive=${so%/*}/libwardpolicy.a
# shellcheck disable=SC2046,SC2086
cc -std=gnu17 $cflags -o static third.c "$archive" $(pkg-config --libs inih libsodium) -pthread ||
	fail "does not build"
! readelf -d static | grep -q wardpolicy || fail "it is linked shared"
ask 0 ./static medium write /workspace/src

echo "--- symbols"
nm -D --defined-only "$so" | awk '$2 != "A" { print $3 }' | sort >exported
! grep -v '@@WARDPOLICY_0$' exported || fail "without a version"
sed -n 's/^\t\(ward_[a-z_]*\);$/\1@@WARDPOLICY_0/p' "$WARD_SRC/enforcer/policy/wardpolicy.map" | sort >named
cmp -s exported named || fail "$(diff exported named)"
