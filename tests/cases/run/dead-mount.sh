#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A mount in the project takes requests and never answers; not even SIGKILL ends a process that
# waits for it. Verbs with a path on it end all the same and name the mount. So does a session,
# whether or not its processes wait for the mount. The control is the same mount while it answers.
# Time limits only end a hang.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
cd "$WARD_TMP"
project p
mkdir -p p/sub/slow back/dir
echo text >back/f
: >said
server=
session=
cleanup() {
	[ -z "$session" ] || kill "$session" 2>/dev/null || :
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null || :
	umount -l "$WARD_TMP/p/sub/slow" "$WARD_TMP/other" 2>/dev/null || :
}
trap cleanup EXIT

# serve: the mount answers. silence: it answers no more.
serve() {
	[ -z "$server" ] || kill -9 "$server"
	umount -l "$WARD_TMP/p/sub/slow" 2>/dev/null || :
	"$WARD_BUILD/tests/support/foldfs" exact "$WARD_TMP/back" "$WARD_TMP/p/sub/slow" >"$WARD_TMP/said" &
	server=$!
	wait_until 60 mountpoint -q "$WARD_TMP/p/sub/slow" || fail "no file system"
	umount -l "$WARD_TMP/other" 2>/dev/null || :
	mount --bind "$WARD_TMP/p/sub/slow" "$WARD_TMP/other"
}
silence() {
	kill -USR1 "$server"
	wait_until 60 grep -q silent "$WARD_TMP/said" || fail "the server goes on"
}
# told TEXT: fails, and shows where the processes of this case wait.
told() {
	for f in /proc/[0-9]*; do
		case $(cat "$f/comm" 2>/dev/null) in
		wardfs* | sh | cat)
			grep -qs "$WARD_TMP/p" "$f/mountinfo" || continue
			echo "${f#/proc/}: $(tr '\0' ' ' <"$f/cmdline" | cut -c1-80)"
			cat "$f/wchan" "$f/syscall" 2>/dev/null || :
			;;
		*) ;;
		esac
	done
	fail "$1"
}
# bounded CMD...: runs CMD beside, since a wait(2) for it could last for ever. Sets GOT, and ERR to
# what it said.
bounded() {
	echo none >"$WARD_TMP/.rc"
	(
		rc=0
		"$@" >"$WARD_TMP/.said" 2>&1 || rc=$?
		echo $rc >"$WARD_TMP/.rc"
	) &
	wait_until 150 grep -qv none "$WARD_TMP/.rc" || told "does not end: $*"
	GOT=$(cat "$WARD_TMP/.rc")
	ERR=$(cat "$WARD_TMP/.said")
}
# named CMD...: refused, and the mount is named.
named() {
	bounded "$@"
	[ "$GOT" != 0 ] || fail "not refused: $*"
	has "$ERR" "the file system mounted at $WARD_TMP/p/sub/slow does not answer"
	has "$ERR" "umount -l"
}

cat >shown.policy <<END
[policy]
version = 1
extends = medium
[system]
read = $WARD_TMP/other/f
END
mkdir other empty

echo "--- control: it answers"
serve
cd p
bounded "$WARDFS" policy explain read sub/slow/f
[ "$GOT" = 0 ] || fail "$ERR"
bounded "$WARDFS" policy check
[ "$GOT" = 0 ] || fail "$ERR"
bounded "$WARDFS" run --policy ../shown.policy -- cat "$WARD_TMP/other/f"
[ "$GOT" = 0 ] || fail "$ERR"
bounded "$WARDFS" run --read sub/slow/f -- true
[ "$GOT" = 0 ] || fail "$ERR"

echo "--- it does not"
silence
named "$WARDFS" policy explain read sub/slow/f
named "$WARDFS" policy explain read sub/slow
named "$WARDFS" policy explain rename sub/f sub/slow/f
named "$WARDFS" policy check sub/slow/f
named "$WARDFS" policy show --policy sub/slow/f
named "$WARDFS" run --read sub/slow/f -- true
named "$WARDFS" run --policy sub/slow/f -- true
bounded "$WARDFS" run --policy ../shown.policy -- true
[ "$GOT" != 0 ] || fail "[system] read: not refused"
has "$ERR" "the file system mounted at $WARD_TMP/other does not answer"
named "$WARDFS" mount sub/slow "$WARD_TMP/empty"
named "$WARDFS" mount ../back sub/slow
named "$WARDFS" audit list --state sub/slow/state
bounded "$WARDFS" policy check
[ "$GOT" = 0 ] || fail "$ERR"
bounded "$WARDFS" policy explain read sub/plain
[ "$GOT" = 0 ] || fail "$ERR"
bounded "$WARDFS" policy add read /workspace/sub/slow/f

echo "--- a session that never asks it"
bounded "$WARDFS" run --session never -- sh -c 'exit 3'
[ "$GOT" = 3 ] || fail "$GOT: $ERR"
has "$ERR" "the file system mounted at $WARD_TMP/p/sub/slow does not answer"

# dies NAME COMMAND [OPTION...]: the mount falls silent during the session, whose command goes on
# behind it.
dies() {
	serve
	rm -f ready go
	echo none >"$WARD_TMP/.rc"
	(
		rc=0
		name=$1
		then=$2
		shift 2
		"$WARDFS" run --session "$name" "$@" -- \
			sh -c "touch ready; while [ ! -e go ]; do sleep 0.05; done; $then" >"$WARD_TMP/.said" 2>&1 || rc=$?
		echo $rc >"$WARD_TMP/.rc"
	) &
	wait_until 60 [ -e ready ] || fail "no session"
	silence
	: >go
	wait_until 150 grep -qv none "$WARD_TMP/.rc" || told "the session does not end"
	GOT=$(cat "$WARD_TMP/.rc")
	ERR=$(cat "$WARD_TMP/.said")
}

echo "--- control: it falls silent, and nobody asks"
dies unasked 'exit 3'
[ "$GOT" = 3 ] || told "$GOT: $ERR"
has "$("$WARDFS" audit list)" ended
OUT=$("$WARDFS" audit verify unasked)
has "$OUT" intact

echo "--- it falls silent, and programs look at the directory that has it"
dies looked 'ls sub; ls -l sub; find .; ! cat sub/slow/f; ! mkdir sub/slow/d; exit 3'
[ "$GOT" = 3 ] || told "$GOT: $ERR"
has "$ERR" slow
hasnt "$ERR" "were left behind"
has "$("$WARDFS" audit verify looked)" intact

echo "--- it falls silent, and a process of the session waits for what is shown of it"
dies asked "cat '$WARD_TMP/other/f' & sleep 1; exit 3" --policy ../shown.policy
[ "$GOT" = 125 ] || fail "$GOT: $ERR"
has "$ERR" "were left behind"
has "$ERR" "the file system mounted at $WARD_TMP/p/sub/slow"
expect 1 "$WARDFS" audit verify asked
has "$OUT" incomplete
hasnt "$("$WARDFS" ps)" asked

echo "--- with the server the processes end"
kill -9 "$server"
server=
# One that was left shows the session's mounts, or ours.
waiting() {
	for f in /proc/[0-9]*; do
		case $(cat "$f/comm" 2>/dev/null) in
		wardfs*) grep -qs "$WARD_TMP/p" "$f/mountinfo" && return 0 ;;
		*) ;;
		esac
	done
	return 1
}
none_waits() {
	if waiting; then return 1; fi
}
wait_until 60 none_waits || fail "processes stay"
