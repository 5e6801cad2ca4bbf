#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs wardfs from this directory. It copies files and removes files of an earlier installation.
# It fetches nothing, starts nothing, and changes no setting of the host.
#
#   ./install.sh [--prefix DIR]              install below DIR (/usr/local)
#   ./install.sh --uninstall [--prefix DIR]  remove the files that it installed there, and no others
#
# With DESTDIR=ROOT in the environment, it writes to ROOT/DIR instead.
set -eu
umask 022
prefix=/usr/local
uninstall=no
while [ $# -gt 0 ]; do
	case $1 in
	--prefix) prefix=${2:?"--prefix takes a directory"} && shift ;;
	--uninstall) uninstall=yes ;;
	*) sed -n '3,10s/^# \{0,1\}//p' "$0" && exit 2 ;;
	esac
	shift
done
case $prefix in
*[!A-Za-z0-9/._+-]* | [!/]* | */) echo "install.sh: not a plain absolute path: $prefix" >&2 && exit 2 ;;
esac
cd "$(dirname -- "$0")"
to=${DESTDIR-}$prefix
list=$to/share/wardfs/installed # one line a file: its path below the prefix

# Removes what the list names and the new list, $1, does not.
remove_old() {
	[ -f "$list" ] || return 0
	grep -vxF -f "$1" "$list" | while read -r file; do
		rm -f -- "$to/$file"
	done
}

if [ $uninstall = yes ]; then
	[ -f "$list" ] || { echo "install.sh: $list is missing: nothing to remove" >&2 && exit 1; }
	directories=$(sed -n 's|/[^/]*$||p' "$list" | sort -ru)
	remove_old /dev/null
	rm -f -- "$list"
	for dir in $directories share/wardfs; do # wardfs's own, from the innermost on, if empty
		case $dir/ in */wardfs/*) ;; *) continue ;; esac
		[ ! -d "$to/$dir" ] || [ -n "$(ls -A -- "$to/$dir")" ] || rmdir -- "$to/$dir"
	done
	exit 0
fi

(cd files && sha256sum --quiet -c ../SHA256SUMS)
new=$(mktemp)
trap 'rm -f "$new"' EXIT
sed 's/^[0-9a-f]*  //' SHA256SUMS >"$new"
while read -r file; do
	mkdir -p -- "$to/$(dirname -- "$file")"
	# A program that runs stays as it is: the new file takes its name.
	mode=644
	[ ! -x "files/$file" ] || mode=755
	install -m $mode -- "files/$file" "$to/$file.new"
	case $file in
	*.service | share/wardfs/apparmor/* | share/wardfs/oci/*) # they name where wardfs lies
		sed "s|/usr/local/|$prefix/|g" "files/$file" >"$to/$file.new"
		;;
	esac
	mv -f -- "$to/$file.new" "$to/$file"
done <"$new"
remove_old "$new"
mkdir -p -- "$to/share/wardfs"
cp -- "$new" "$list" && chmod 644 "$list"
echo "wardfs is installed in $to. Next: $prefix/bin/wardfs doctor"
