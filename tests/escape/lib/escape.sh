# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts of this folder, which get WARD_BUILD and WARD_TMP and run in WARD_TMP.
#
#   inside MODE [OPTION]... -- CMD   runs CMD in a sandbox; MODE is root (started by root) or user
#                                    (started by an ordinary user, really)
#   blocked MODE ERRNO ATTEMPT...    the attempt fails inside with this errno
#   works CMD...                     a control: prints "done"
#   root_works CMD...                a control that only root can make
#   by_root                          whether root runs the test
#   as_other CMD...                  CMD as the ordinary user of the mode user
#   apart [OPTION]... CMD...         CMD in mounts of its own, by unshare(1)
#   supervisor FILE                  the process behind a sandbox that was started with --pid FILE
#   each_mode FUNCTION               calls FUNCTION root, FUNCTION user
#
# Where an ordinary user runs the test, the mode user is the only mode. The test then leaves out the
# controls that need root: root's run on the same kernel has them.
# shellcheck shell=sh
set -eu
. "$WARD_SRC/tests/lib.sh"

RUN=$WARD_BUILD/tests/support/sandboxrun
ATTACK=$WARD_BUILD/tests/escape/attack
[ -x "$RUN" ] && [ -x "$ATTACK" ] || fail "not built: $RUN"

by_root() {
	[ "$(id -u)" = 0 ]
}
if by_root; then
	TEST_UID=1234
	SEEN=/mnt/build # where as_stranger shows the build
else
	TEST_UID=$(id -u)
	SEEN=$WARD_BUILD
fi

# An ordinary user with a /dev/fuse of the standard mode, and the programs where that user may look.
as_stranger() {
	by_root || {
		"$@"
		return
	}
	unshare -m sh -c '
		mount -t tmpfs wardfs-test /mnt && mknod -m 666 /mnt/fuse c 10 229 &&
		mount --bind /mnt/fuse /dev/fuse && mkdir /mnt/build &&
		mount --bind "$WARD_BUILD" /mnt/build &&
		WARD_BUILD=/mnt/build exec setpriv --reuid '"$TEST_UID"' --regid '"$TEST_UID"' \
			--clear-groups "$@"' sh "$@"
}

inside() {
	mode=$1
	shift
	case $mode in
	root) WARD_BUILD=$WARD_BUILD "$RUN" --bind "$ATTACK=/attack" "$@" ;;
	user) as_stranger "$SEEN/tests/support/sandboxrun" --bind "$SEEN/tests/escape/attack=/attack" "$@" ;;
	*) fail "no mode $mode" ;;
	esac
}

blocked() {
	mode=$1 want=$2
	shift 2
	out=$(inside "$mode" -- /attack "$@") && rc=0 || rc=$?
	[ "$rc" = 1 ] && [ "$out" = "$want" ] ||
		fail "$mode: $*: exit code $rc, \"$out\"; expected to be refused with $want"
}

works() {
	out=$("$@") && rc=0 || rc=$?
	[ "$rc" = 0 ] && [ "$out" = "done" ] || fail "control: $*: exit code $rc, \"$out\""
}

root_works() {
	! by_root || works "$@"
}

as_other() {
	if by_root; then
		setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups "$@"
	else
		"$@"
	fi
}

apart() {
	if by_root; then
		unshare --mount --propagation private "$@"
	else
		unshare --map-root-user --mount --propagation private "$@"
	fi
}

# The process that called the library for the sandbox of this --pid file: pid 1's parent.
supervisor() {
	sed -n 's/^PPid:[[:space:]]*//p' "/proc/$(cat "$1")/status"
}

each_mode() {
	! by_root || "$1" root
	"$1" user
}
