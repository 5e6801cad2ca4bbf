# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016
# What the shell tests share. A test sources it right after `set -eu`:
#
#     . "$WARD_SRC/tests/lib.sh"
#
# A file in a folder lib/ adds what one area needs; it sources this file. No script defines a
# function of this file again (static/shell).
set -eu
WARDFS=$WARD_BUILD/wardfs
export WARDFS

# fail TEXT...: ends the script as failed. With FAIL_LOG, it shows the end of that file, too.
fail() {
	printf 'FAIL: %s\n' "$*" >&2
	[ ! -f "${FAIL_LOG-}" ] || tail -n 20 "$FAIL_LOG" >&2
	exit 1
}

# skip REASON...: ends the script as skipped.
skip() {
	printf '%s\n' "$*"
	exit 77
}

# expect STATUS CMD...: the command's exit status must be STATUS. Sets OUT and ERR to its output.
expect() {
	want=$1
	shift
	got=0
	"$@" >"$WARD_TMP/.out" 2>"$WARD_TMP/.err" || got=$?
	OUT=$(cat "$WARD_TMP/.out")
	ERR=$(cat "$WARD_TMP/.err")
	[ "$got" -eq "$want" ] || fail "exit $got instead of $want: $*
stdout: $OUT
stderr: $ERR"
}

# refused TEXT CMD...: the command must fail, and its output must contain the fixed string. Sets
# OUT.
refused() {
	text=$1
	shift
	if OUT=$("$@" 2>&1); then fail "not refused: $*: $OUT"; fi
	case $OUT in
	*"$text"*) ;;
	*) fail "$*: not refused with '$text' but: $OUT" ;;
	esac
}

# has TEXT PATTERN: the text must contain the fixed string.
has() {
	case $1 in
	*"$2"*) ;;
	*) fail "expected to find '$2' in: $1" ;;
	esac
}

# hasnt TEXT PATTERN: the text must not contain the fixed string.
hasnt() {
	case $1 in
	*"$2"*) fail "did not expect to find '$2' in: $1" ;;
	*) ;;
	esac
}

# wait_until SECONDS CMD...: tries the command until it succeeds; fails when the time is over. The
# time only ends a wait that would never end: give as much as a loaded machine may need.
wait_until() {
	tries=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# running MARK: some process has exactly this argument. Other tests, and other runs of this test,
# use the machine at the same time. So a test that looks for its process by an argument makes the
# argument unique (sleep 9$$7, say). The brackets keep the search from finding itself.
running() {
	first=${1%"${1#?}"}
	grep -qszx -e "[$first]${1#?}" /proc/[0-9]*/cmdline
}

ended() {
	! running "$1"
}

# gone PID: the process is dead. A zombie counts as dead: only its parent has not asked yet.
gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# project DIR: makes an empty git project.
project() {
	mkdir -p "$1"
	git init -q "$1"
	git -C "$1" config user.name T
	git -C "$1" config user.email t@example.org
}

# status_of SESSION MEMBER: prints that member of the session in `wardfs ps --json`; nothing where
# the session does not run.
status_of() {
	"$WARDFS" ps --json | python3 -c '
import json, sys
for s in json.load(sys.stdin):
    if s["session"] == sys.argv[1]:
        print(s[sys.argv[2]])' "$1" "$2"
}

# git_identity: gives the test's own HOME a git identity.
git_identity() {
	git config --global user.name T
	git config --global user.email t@example.org
	git config --global init.defaultBranch main
}

# said_besides_limits: what $ERR says, but for the line about limits of the profile that an ordinary
# user cannot have held on this host.
said_besides_limits() {
	printf '%s\n' "$ERR" | grep -v '^wardfs: this host cannot enforce these limits of the profile: ' || :
}

# as_user SCRIPT [ARG...]: runs the sh script as an ordinary user (uid 4711, no groups) who can open
# /dev/fuse: the user has a node of mode 0666, as on most machines, in a private mount namespace.
# The user's home is $WARD_TMP/home. Others must be able to reach the build tree. Nothing of
# wardfs-hostd is there, even if the host has it: its own cases start it.
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
		[ ! -d /run/wardfs-host ] || mount -t tmpfs -o mode=755 tmpfs /run/wardfs-host
		unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
		exec setpriv --reuid=4711 --regid=4711 --clear-groups --inh-caps=-all sh "$@"' sh "$@"
}
