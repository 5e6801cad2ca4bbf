# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016
# Debian packages without a build of their own, and roots that dpkg fills.
#
#   as_installed  from here on `meson install` installs, below DESTDIR, the build that is there, as
#                 if it had been configured for /usr: only what a package is made of counts. With
#                 VERSION, the program says that it is of this version, which must be as long.
#   dpkg_root DIR         an empty root
#   into DIR OPTION...    calls dpkg on it; no script of a package touches this host
set -eu
. "$WARD_SRC/tests/lib.sh"

as_installed() {
	mkdir fake
	cat >fake/meson <<-'END'
		#!/bin/sh
		set -e
		b=$WARD_BUILD_TREE i=install
		$i -D -m 755 "$b/wardfs" "$DESTDIR/usr/bin/wardfs"
		if [ -n "${VERSION-}" ]; then
			is=$("$b/wardfs" --version | sed -n 's/^wardfs //p')
			[ ${#is} -eq ${#VERSION} ]
			sed -i "s/$(echo "$is" | sed 's/[.]/[.]/g')/$VERSION/g" "$DESTDIR/usr/bin/wardfs"
		fi
		for one in audit fs net init screen; do
			$i -D -m 755 "$b/wardfs-$one" "$DESTDIR/usr/libexec/wardfs/wardfs-$one"
		done
		# Programs that are scripts: neither strip nor dpkg-shlibdeps takes them.
		for one in "$b"/wardfs-*.py "$b"/wardfs-*.mjs; do
			$i -D -m 644 "$one" "$DESTDIR/usr/libexec/wardfs/${one##*/}"
		done
		for one in audit host; do
			$i -D -m 644 "$WARD_SRC/conf/systemd/wardfs-$one.socket" \
				"$DESTDIR/usr/lib/systemd/system/wardfs-$one.socket"
		done
		$i -D -m 644 "$b/conf/completions/wardfs" "$DESTDIR/usr/share/bash-completion/completions/wardfs"
		$i -D -m 600 "$WARD_SRC/docs/man/wardfs.1" "$DESTDIR/usr/share/man/man1/wardfs.1"
		$i -D -m 600 "$b/docs/wardfs-policy.5" "$DESTDIR/usr/share/man/man5/wardfs-policy.5"
		$i -D -m 644 /dev/null "$DESTDIR/usr/include/wardpolicy/x.h"
		$i -D -m 644 /dev/null "$DESTDIR/usr/lib/x/libwardpolicy.so.0"
	END
	chmod +x fake/meson
	PATH=$PWD/fake:$PATH
}

dpkg_root() {
	mkdir -p "$1/var/lib/dpkg/info" "$1/var/lib/dpkg/updates"
	: >"$1/var/lib/dpkg/status"
}

into() {
	into=$PWD/$1
	shift
	dpkg --root="$into" --log=/dev/null --force-depends --force-bad-path --force-script-chrootless "$@" \
		>dpkg.log 2>&1 || fail "dpkg $*: $(cat dpkg.log)"
}
