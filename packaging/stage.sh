# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# What the packages have in common. Sourced by a script beside it, with build=DIR and out=DIR set.
#
#   begin                 sets tmp (removed at the end), src, version, architecture and
#                         SOURCE_DATE_EPOCH; of a build for another architecture DEB_HOST_ARCH
#                         says which (dpkg-architecture -a ARCH -c ...)
#   stage PREFIX LICENSE  sets top to the staged PREFIX: what the build installs, stripped, and the
#                         documents, with the file LICENSE as license; and programs to those in ELF
#   common_modes DIR      makes DIR readable by all, and as old as the sources
set -eu

begin() {
	umask 022
	src=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
	mkdir -p "$out"
	out=$(readlink -f -- "$out")
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	version=$(sed -n "s/^  version: '\([0-9.]*\)',$/\1/p" "$src/meson.build")
	here=$(dpkg --print-architecture 2>/dev/null || uname -m) # without dpkg nobody looks at it
	architecture=${DEB_HOST_ARCH-$here}
	tools=
	[ "$architecture" = "$here" ] || tools=$DEB_HOST_GNU_TYPE-
	# The date of the sources, so that the same sources give the same package.
	if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
		SOURCE_DATE_EPOCH=$(git -C "$src" log -1 --format=%ct 2>/dev/null ||
			stat -c %Y "$src/NEWS.md")
	fi
	export SOURCE_DATE_EPOCH
}

stage() {
	license=$2
	root=$tmp/root
	top=$root$1
	mkdir "$root"
	DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
	[ -x "$top/bin/wardfs" ] || {
		echo "${0##*/}: $build does not install into $1" >&2
		exit 1
	}
	# For those who link against it, from a build of their own.
	rm -rf "$top/include"
	find "$top/lib" -path '*wardpolicy*' -delete
	find "$top/lib" -depth -type d -empty -delete
	# Scripts are among them; a program begins with the magic of ELF.
	programs=$(cd "$top" && find bin libexec -type f -exec sh -c '
		for file; do
			[ "$(head -c 4 "$file" | od -An -c | tr -d " ")" != "177ELF" ] || echo "$file"
		done' sh {} +)
	# shellcheck disable=SC2086 # programs of ours: names without blanks
	(cd "$top" && "${tools}strip" --strip-unneeded $programs)

	doc=$top/share/doc/wardfs
	mkdir -p "$doc"
	cp "$src/README.md" "$src/SECURITY.md" "$doc/"
	cp "$src"/docs/*.md "$doc/"
	gzip -9nc "$src/NEWS.md" >"$doc/NEWS.md.gz"
	{
		printf 'Source: the repository that this package was built from\n\nLicense: Apache-2.0\n\n'
		cat "$license"
		if [ -e "$top/libexec/wardfs/wardfs-quickjs" ]; then
			printf '\n%s/libexec/wardfs/wardfs-quickjs contains QuickJS-ng as quickjs-wasi has it:\n\n' "${1#/}"
			cat "$src/build-quickjs/LICENSE"
		fi
	} >"$doc/copyright"
	find "$top/share/man" -type f -exec gzip -9n {} +
}

common_modes() {
	chmod -R u=rwX,go=rX "$1"
	find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}
