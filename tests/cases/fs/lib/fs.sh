# SPDX-License-Identifier: Apache-2.0
# Sourced by the cases of wardfs-fs: a backing, a mount point, a policy, and ways to run a script
# inside. Nothing is left behind: the mount lives in a mount namespace that ends with the script.
# shellcheck shell=sh disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "needs root"
[ -c /dev/fuse ] || skip "no /dev/fuse"

FSMOUNT=$WARD_BUILD/tests/support/fsmount
EVENTS=$WARD_TMP/events
# A case that fails shows the end of this file.
FAIL_LOG=$EVENTS
BACK=$WARD_TMP/back
MNT=$WARD_TMP/mnt
POLICY=$WARD_TMP/policy
# An unprivileged id that owns nothing on a Debian machine.
OWNER=54321

# The path down to the scratch directory must be searchable by the owner.
dir=$WARD_TMP
while [ "$dir" != / ]; do
	if [ "$(stat -c %a "$dir" | tail -c 2)" = 0 ]; then
		case $dir in
		"$WARD_TMP"*) chmod a+x "$dir" ;;
		*) skip "$dir is closed to others" ;;
		esac
	fi
	dir=$(dirname "$dir")
done

# policy LINE…: rules of [files] after "write = /workspace"
policy() {
	{
		printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n'
		printf '[audit]\nlog = opens\n[files]\nwrite = /workspace\n'
		for line in "$@"; do printf '%s\n' "$line"; done
	} >"$POLICY"
}

fresh() {
	rm -rf "$BACK" "$MNT"
	mkdir "$BACK" "$MNT"
	: >"$EVENTS"
	chmod 666 "$EVENTS"
	chown "$OWNER:$OWNER" "$BACK"
}

# The modes that a case goes through. A thread sanitizer's thread in fsmount is one too many for
# unshare(CLONE_NEWUSER).
MODES="root cached user"
# shellcheck disable=SC2034 # the cases that source this go through them
if grep -q __tsan_init "$FSMOUNT"; then MODES="root cached"; fi

# in_mode MODE SCRIPT ARG…: runs sh SCRIPT inside. MODE: root, cached, user, masked, other.
in_mode() {
	mode=$1
	shift
	case $mode in
	root) set -- -m root -o $OWNER:$OWNER -- "$@" ;;
	cached) set -- -m root -n -o $OWNER:$OWNER -- "$@" ;;
	user) set -- -m user -o $OWNER:$OWNER -- "$@" ;;
	other) set -- -m other -- "$@" ;;
	*) fail "mode $mode" ;;
	esac
	opts=
	while [ "$1" != -- ]; do opts="$opts $1"; shift; done
	shift
	# shellcheck disable=SC2086
	"$FSMOUNT" $opts -l "$EVENTS" "$POLICY" "$BACK" "$MNT" sh -eu "$@"
}

# passthrough MODE: yes where the kernel reads and writes files by itself then (Linux 6.9), else no.
# After policy and fresh, which it leaves as they were.
passthrough() {
	as_owner touch "$BACK/probe"
	in_mode "$1" -c 'cat probe' || fail "$1: probe"
	found=no
	! grep -q 'io=.passthrough.' "$EVENTS" || found=yes
	rm "$BACK/probe"
	: >"$EVENTS"
	echo $found
}

# as_owner CMD…: on the backing, as the owner
as_owner() {
	setpriv --reuid=$OWNER --regid=$OWNER --clear-groups "$@"
}

# recorded REGEX: the trail has such a line
recorded() {
	grep -Eq "$1" "$EVENTS" || fail "no record: $1"
}

# script NAME: standard input becomes the script $WARD_TMP/NAME, which runs inside.
script() {
	{
		echo 'set -eu'
		echo '. "$WARD_SRC/tests/cases/fs/lib/inside.sh"'
		cat
	} >"$WARD_TMP/$1"
	chmod 755 "$WARD_TMP/$1"
}
export HOME="$WARD_TMP" GIT_CONFIG_NOSYSTEM=1
