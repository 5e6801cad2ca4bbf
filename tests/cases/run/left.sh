#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The exit line and the trail name what a session leaves besides files: named pipes, sockets, and
# links that lead out of the tree or to what the command could not write.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
NOTE='left in the project, and no files of it:'
inside() {
	expect 0 "$WARDFS" run --policy medium -- sh -euc "$1"
}
# named SCRIPT TEXT: the script works, and the summary says this
named() {
	inside "$1"
	has "$ERR" "$NOTE"
	case ${ERR#*"$NOTE"} in
	*" $2,"* | *" $2;"*) ;;
	*) fail "$1: '$2' is not named: $ERR" ;;
	esac
}
silent() {
	inside "$1"
	hasnt "$ERR" "$NOTE"
}
mkdir project
cd project || exit 1
git init -q .
mkdir -p src out there/deep node_modules/t
echo x >src/a
echo TOKEN=1 >.env
mkfifo there/pipe
ln -s /etc/passwd there/out
ln -s ../../src there/deep/src
git add src && git commit -qm first
sleep 0.05

echo "--- what was there, and what leads to files of the tree, is not named"
silent 'cat there/deep/src/a; echo y >src/b; mkdir d; mv src/b d'
silent 'ln -s ../src/a out/a; ln -s ./../src out/src; ln -s nothing out/nothing; ln -s loop out/loop'
silent 'ln src/a out/hard; ln -s ../t/t.js node_modules/t.js'
silent "ln -s $PWD/src/a out/whole"
silent 'mkfifo gone; rm gone'

echo "--- what is not"
named 'mkfifo src/pipe' 'named pipe src/pipe'
named 'python3 -c "
import socket
socket.socket(socket.AF_UNIX).bind(\"out/socket\")"' 'socket out/socket'
named 'mknod out/white c 0 0' 'device out/white'
named 'ln -s /etc/passwd out/passwd' 'link out/passwd to /etc/passwd'
named 'ln -s ../.. out/up' 'link out/up to ../..'
named 'ln -s ../src/../../x out/x' 'link out/x to ../src/../../x'
named 'ln -s ../there/deep/src/../../x out/by' 'link out/by to ../there/deep/src/../../x'
named 'ln -s ../.git/config out/report' 'link out/report to ../.git/config (closed to the command)'
named 'ln -s ../.git/hooks/pre-commit out/hook' 'link out/hook to ../.git/hooks/pre-commit (closed to the command)'
named 'ln -s ../.env out/env' 'link out/env to ../.env (closed to the command)'
# By another link of its own, and by what was there under another name.
named 'ln -s ../.git out/g; ln -s g/config out/h' 'link out/h to g/config (closed to the command)'
named 'mv there moved' 'named pipe moved/pipe'
has "$ERR" 'link moved/out to /etc/passwd'
named 'rm moved/out; ln -s /etc/shadow moved/out' 'link moved/out to /etc/shadow'
session=$(printf '%s\n' "$ERR" | sed -n 's/.*wardfs audit show //p' | tail -n 1)
expect 0 "$WARDFS" audit show --json "$session"
has "$OUT" '"left":[{"kind":"link-out","path":"moved/out","to":"/etc/shadow"}],"left_more":0'
expect 0 "$WARDFS" audit report "$session"
has "$OUT" 'Left in the project, and no files of it'
# Many
named 'i=0; while [ $i -lt 30 ]; do mkfifo src/p$i; i=$((i+1)); done' 'named pipe src/p0'
has "$ERR" 'and 10 more'

echo "--- a guarded file has no second name that could be written"
expect 0 "$WARDFS" run --policy medium -- sh -c 'ln .git/config out/config && exit 1; ln src/a out/control'
[ "$(stat -c %h .git/config)" = 1 ] || fail "a link to .git/config"

echo "--- a link of an earlier session that leads out only now"
silent 'mkdir -p two/d; ln -s a/../../etc two/d/up; ln -s g/config two/h; ln -s sub/b/../../../x two/l
	mkdir two/there; ln -s .. two/there/b; ln -s d/f two/plain; ln -s k/f two/by; echo f >two/d/f'
silent 'mkdir two/d/a; ln -s d two/k; cat two/by two/plain'
named 'rmdir two/d/a; ln -s .. two/d/a' 'link two/d/up to a/../../etc'
named 'ln -s ../.git two/g' 'link two/h to g/config (closed to the command)'
named 'mv two/there two/sub' 'link two/l to sub/b/../../../x'
silent 'touch two/new'
