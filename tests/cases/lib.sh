# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016
# For the cases: sourced as ". "$WARD_SRC/tests/cases/lib.sh"". Says what failed and where the
# script stands; a case that ends before `done_ok` has failed.
set -u
WARDFS=$WARD_BUILD/wardfs
export WARDFS

fail() {
	printf 'FAIL: %s\n' "$*" >&2
	exit 1
}

# expect STATUS CMD...: the command's exit status must be STATUS. Its output stands in $OUT and $ERR.
expect() {
	want=$1
	shift
	"$@" >"$WARD_TMP/.out" 2>"$WARD_TMP/.err"
	got=$?
	OUT=$(cat "$WARD_TMP/.out")
	ERR=$(cat "$WARD_TMP/.err")
	[ "$got" -eq "$want" ] || fail "exit $got instead of $want: $*
stdout: $OUT
stderr: $ERR"
}

# has TEXT PATTERN: the text must hold the fixed string.
has() {
	case $1 in
	*"$2"*) ;;
	*) fail "expected to find '$2' in: $1" ;;
	esac
}

hasnt() {
	case $1 in
	*"$2"*) fail "did not expect to find '$2' in: $1" ;;
	*) ;;
	esac
}

# wait_until SECONDS CMD...: tries the command until it succeeds. The time only ends a wait that would
# never end: give what a loaded machine may take.
wait_until() {
	tries=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# running MARK: some process has exactly this argument. A test that looks for what it started by name
# makes the name its own (sleep 9$$7, say): other tests, and other runs of this one, go on beside it.
# The brackets keep the search from finding itself.
running() {
	first=${1%"${1#?}"}
	grep -qszx -e "[$first]${1#?}" /proc/[0-9]*/cmdline
}

ended() {
	! running "$1"
}

# gone PID: dead; a zombie is dead, only its parent has not asked yet.
gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# project DIR: an empty git project to run in.
project() {
	mkdir -p "$1"
	git init -q "$1"
	git -C "$1" config user.name T
	git -C "$1" config user.email t@example.org
}

# status_of SESSION MEMBER: as wardfs ps tells of it; nothing where it does not run
status_of() {
	"$WARDFS" ps --json | python3 -c '
import json, sys
for s in json.load(sys.stdin):
    if s["session"] == sys.argv[1]:
        print(s[sys.argv[2]])' "$1" "$2"
}

# git_identity: of the test's own HOME
git_identity() {
	git config --global user.name T
	git config --global user.email t@example.org
	git config --global init.defaultBranch main
}

# as_user SCRIPT [ARG...]: runs the sh script as an ordinary user (uid 4711, no groups) who can open
# /dev/fuse: its own node of it, in a private mount namespace, is 0666 as on most machines. The user's home
# is $WARD_TMP/home; the build tree must be reachable for others.
as_user() {
	mkdir -p "$WARD_TMP/home" "$WARD_TMP/dev"
	chmod 755 "$WARD_TMP"
	chown -R 4711:4711 "$WARD_TMP/home"
	cd "$WARD_TMP/home" || return 1
	HOME="$WARD_TMP/home" unshare --mount --propagation private sh -c '
		set -e
		mount -t tmpfs -o mode=755 tmpfs "$WARD_TMP/dev"
		mknod "$WARD_TMP/dev/fuse" c 10 229
		chmod 666 "$WARD_TMP/dev/fuse"
		mount --bind "$WARD_TMP/dev/fuse" /dev/fuse
		umount -l "$WARD_TMP/dev"
		unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
		exec setpriv --reuid=4711 --regid=4711 --clear-groups --inh-caps=-all sh "$@"' sh "$@"
}
