# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016
# Debian packages without a build of their own, and roots that dpkg fills.
#
#   as_installed  from here on meson builds nothing, and installs the build that is there, below
#                 DESTDIR as if it had been configured for /usr; with VERSION, of that version
#   dpkg_root DIR         an empty root
#   into DIR OPTION...    calls dpkg on it; no script of a package touches this host
set -eu
. "$WARD_SRC/tests/lib.sh"

as_installed() {
	mkdir fake
	cat >fake/meson <<-'END'
		#!/bin/sh
		set -eu
		[ "$1" = install ] || exit 0
		exec python3 "$WARD_SRC/tests/cases/self/lib/as-installed.py" "$WARD_BUILD_TREE" "$DESTDIR" ${VERSION-}
	END
	printf '#!/bin/sh\n' >fake/ninja
	chmod +x fake/meson fake/ninja
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
