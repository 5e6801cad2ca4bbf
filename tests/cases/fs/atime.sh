#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reads change access times inside as they do natively, with the backing mounted relatime, noatime
# and strictatime. stat shows the same time inside and on the backing, also where the kernel reads
# the backing by itself.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# reads.py BACKING|- [SKIP…]: in this directory; a line for each way to read. BACKING: where it
# stands on the host.
cp "$WARD_SRC/tests/cases/fs/lib/atime-reads.py" "$WARD_TMP/reads.py"

if [ "${1-}" != mounted ]; then
	for flag in relatime noatime strictatime; do
		unshare --mount --propagation private sh -eu "$0" mounted $flag || fail "$flag"
	done
	exit 0
fi

flag=$2
# filled DIR: what is read, made on the host
filled() {
	rm -rf "$1/in"
	as_owner mkdir "$1/in" "$1/in/dir"
	for f in open read rdwr noatime direct mmap splice sendfile copy; do
		head -c 8192 /dev/zero | tr '\0' x >"$1/in/$f"
	done
	cp /bin/true "$1/in/exec"
	ln -s read "$1/in/link"
	: >"$1/in/dir/f"
	chown -hR $OWNER:$OWNER "$1/in"
}
# on the file system itself
fresh
mount --bind "$BACK" "$BACK"
mount -o "remount,bind,$flag" "$BACK"
filled "$BACK"
want=$(cd "$BACK/in" && as_owner python3 "$WARD_TMP/reads.py" -)
case $flag in
noatime) ! echo "$want" | grep moved || fail "native $flag: $want" ;;
relatime)
	echo "$want" | grep -qx "read moved" || fail "native $flag: $want"
	echo "$want" | grep -qx "read again kept" || fail "native $flag: $want"
	;;
strictatime) echo "$want" | grep -qx "read again moved" || fail "native $flag: $want" ;;
esac

# without NAME…: what of $want is left without what differs where the kernel keeps pages or listings
without() {
	out=$want
	for name in "$@"; do out=$(echo "$out" | grep -v "^$name [a-z]*$"); done
	echo "$out"
}
for mode in $MODES quota; do
	# shellcheck disable=SC2119 # as it is
	policy
	[ "$mode" != quota ] || printf '[quota /workspace]\ngrowth = 1G\n' >>"$POLICY"
	filled "$BACK"
	rm -rf "$MNT"
	mkdir "$MNT"
	: >"$EVENTS"
	as=$mode
	[ "$mode" != quota ] || as=root
	# The kernel reads pages that it keeps without wardfs: docs/posix.md.
	if [ "$(passthrough "$as")" = yes ]; then
		set -- "list again"
	else
		set -- "noatime again" "list again" "read again" "rdwr again" "mmap again" "splice again" \
			"sendfile again" "exec again" exec
	fi
	# shellcheck disable=SC2016 # the script's own
	got=$(in_mode "$as" -c 'cd in; exec python3 "$@"' - "$WARD_TMP/reads.py" "$BACK/in" "$@") ||
		fail "$flag, $mode: $got"
	[ "$got" = "$(without "$@")" ] || fail "$flag, $mode: [$got] is not [$(without "$@")]"
done
