#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a command can do with host files, sockets and devices that it got as 0, 1 and 2: read and
# write, nothing else. The control is the same attempt in mode none.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "$(id -u)" = 0 ]; then
	as_user "$0"
	exit 0
fi
WARD_TMP=$HOME
PROJECT=$WARD_TMP/project
ATTACKER=$WARD_SRC/tests/escape/lib/descriptors.py
project "$PROJECT"
cp "$ATTACKER" "$PROJECT/attacker.py"
cd "$PROJECT" || exit 1
mkdir -m 700 "$WARD_TMP/runtime"
export XDG_RUNTIME_DIR="$WARD_TMP/runtime"
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n[process]\nterminal = yes\n' \
	>"$WARD_TMP/policy"

# files: fresh ones to be given: a key (its first line is for the caller), an output, a log
files() {
	rm -f "$WARD_TMP/key" "$WARD_TMP/out" "$WARD_TMP/log" report
	printf 'secret\nfor the command\n' >"$WARD_TMP/key"
	echo 'of the caller' >"$WARD_TMP/out"
	printf 'what was before\n' >"$WARD_TMP/log"
	chmod 600 "$WARD_TMP/key"
}

# attack CMD...: runs the attacker with the files behind CMD; prints an act a line, and what became
# of it
attack() {
	files
	{
		read -r _
		"$@" python3 attacker.py attack report 1<>"$WARD_TMP/out" 2>>"$WARD_TMP/log" || :
	} <"$WARD_TMP/key"
	[ -s report ] || fail "$*: no report: $(cat "$WARD_TMP/out" "$WARD_TMP/log")"
	python3 "$ATTACKER" look report "$WARD_TMP/key" "$WARD_TMP/out" "$WARD_TMP/log"
}

run() {
	"$WARDFS" run --policy "$WARD_TMP/policy" "$@"
}

attack run --mode none -- >"$WARD_TMP/control"
for act in 0-mode 0-times 0-lease 0-flock 0-lock 0-before 0-map 0-rewind 0-path 1-copy 1-mode 1-truncate 1-allocate \
	1-before 1-owner 2-before 2-truncate; do
	grep -qx "$act reached" "$WARD_TMP/control" || fail "control: $act: $(cat "$WARD_TMP/control" report)"
done
held() { # held WHAT FILE: no act reached a file of the host
	if grep reached "$2"; then fail "$1 reached files of the host: $(cat report)"; fi
	grep -q held "$2" || fail "$1: nothing was tried"
}
attack run -- >"$WARD_TMP/acts"
held run "$WARD_TMP/acts"
grep -q "^what was read: b'for the command" "$WARD_TMP/out" || fail "nothing was read and written: $(cat "$WARD_TMP/out")"
# Where the command sees the host's files anyway, it gets them as they are.
attack run --mode process -- >"$WARD_TMP/process"
grep -qx '1-mode reached' "$WARD_TMP/process" || fail "process: $(cat "$WARD_TMP/process")"

# `wardfs exec`: the same, whatever the mode of the session. And a supervisor gives no file to a
# command, should a client send it one.
run --keep --session descriptors -- true 2>"$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
trap '"$WARDFS" kill descriptors >/dev/null 2>&1 || :' EXIT
attack "$WARDFS" exec descriptors -- >"$WARD_TMP/acts"
held exec "$WARD_TMP/acts"
refused "give the command a pipe instead" python3 "$ATTACKER" send descriptors "$WARD_TMP/key"

# reach ACT CMD...: what became of that one act
reach() {
	act=$1
	shift
	rm -f report
	"$@" python3 attacker.py reach report "$act" >"$WARD_TMP/reach.out" 2>&1 || :
	[ -s report ] || fail "$act: $*: no report: $(cat "$WARD_TMP/reach.out")"
	cat report
}

# A named pipe is an inode of the host's.
mkfifo -m 600 "$WARD_TMP/fifo"
exec 3<>"$WARD_TMP/fifo"
reach 0-mode run -- <"$WARD_TMP/fifo" >/dev/null
[ "$(stat -c %a "$WARD_TMP/fifo")" = 600 ] || fail "a named pipe was opened to others"
reach 0-mode run --mode none -- <"$WARD_TMP/fifo" >/dev/null
[ "$(stat -c %a "$WARD_TMP/fifo")" = 666 ] || fail "control: a named pipe"
exec 3<&-

# A device that is more than memory.
[ "$(reach 0-itself run --mode none -- <>/dev/fuse)" = '{"0-itself": "done"}' ] || fail "control: a device"
[ "$(reach 0-itself run -- <>/dev/fuse)" = '{"0-itself": "nothing"}' ] || fail "a device: $(cat report)"
[ "$(reach 0-itself run -- </dev/null)" = '{"0-itself": "done"}' ] || fail "/dev/null: $(cat report)"

# A socket of the host is taken off its peer and connected to something else: the host's network.
# Its control has no network of its own. What has one gets no socket, whatever its mode.
sed 's/^\[files\]/[network]\nmode = host\n&/' "$WARD_TMP/policy" >"$WARD_TMP/host.policy"
given_socket() { # given_socket KIND CMD...
	python3 "$ATTACKER" socket "$@"
}
for kind in tcp unix; do
	[ "$(reach 0-itself given_socket $kind "$WARDFS" run --mode none --policy "$WARD_TMP/host.policy" --)" = \
		'{"0-itself": "done"}' ] || fail "control: $kind: $(cat report "$WARD_TMP/reach.out")"
	for mode in none process restricted; do
		[ "$(reach 0-itself given_socket $kind "$WARDFS" run --mode $mode --policy "$WARD_TMP/policy" --)" = \
			'{"0-itself": "nothing"}' ] || fail "$kind in mode $mode: $(cat report)"
	done
done
[ "$(reach 0-elsewhere given_socket tcp "$WARDFS" run --mode none --policy "$WARD_TMP/host.policy" --)" = \
	'{"0-elsewhere": "done"}' ] || fail "control: elsewhere: $(cat report)"
for mode in none restricted; do
	[ "$(reach 0-elsewhere given_socket tcp "$WARDFS" run --mode $mode --policy "$WARD_TMP/policy" --)" = \
		'{"0-elsewhere": "ENOTSOCK"}' ] || fail "elsewhere in mode $mode: $(cat report)"
done

# What nobody gets, in no mode.
refused "is a socket that listens" given_socket listen "$WARDFS" run --mode none -- true
refused "is a directory" sh -c '"$WARDFS" run --mode none -- true <.'
refused "is a directory" sh -c '"$WARDFS" exec descriptors true <.'
refused "is a path" python3 -c '
import os, subprocess, sys
fd = os.open("attacker.py", os.O_PATH)
sys.exit(subprocess.run([os.environ["WARDFS"], "run", "--mode", "none", "--", "true"], stdin=fd).returncode)'

# No other descriptor of the caller crosses.
OUT=$("$WARDFS" run --status-fd 7 -- sh -c 'ls /proc/self/fd' 7>"$WARD_TMP/status" 8<"$WARD_TMP/key" 9>&1 </dev/null)
[ "$(echo "$OUT" | tr '\n' ' ')" = "0 1 2 3 " ] || fail "more than 0, 1, 2: $OUT"
exit 0
