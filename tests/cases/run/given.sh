#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host files and sockets given as 0, 1 and 2 go through pipes, and ordinary uses of them still
# work.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
run() { "$WARDFS" run "$@"; }
is() { # is WHAT EXPECTED GOT
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}
# words FILE: its lines in one
words() { tr '\n' ' ' <"$1" | sed 's/ $//'; }
# Everything arrives, in both directions, and all of it before the command's end is told.
head -c 3000000 /dev/urandom >../big
run -- cat <../big >../copy
cmp ../big ../copy || fail "not everything arrived"
cp ../big big
got=0
run -- sh -c 'cat big; exit 3' >../copy || got=$?
is "status" 3 $got
cmp ../big ../copy || fail "the end was lost"
# A process that the command leaves running may write for ever.
timeout 60 "$WARDFS" run -- sh -c 'yes & echo over; sleep 0.2' >../yes || fail "it never ended: $?"
grep -q over ../yes || fail "nothing arrived"
rm ../yes

# Both outputs in one file: the order in which they were written, also behind what is there.
echo before >../both
run -- sh -c 'for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2; done' >>../both 2>&1
is "order" "before o1 e1 o2 e2 o3 e3 o4 e4 o5 e5 o6 e6 o7 e7 o8 e8" "$(words ../both)"
{
	echo first
	run -- echo second
	echo third
} >../both
is "the place in the file" "first second third" "$(words ../both)"
echo end >../log
run -- sh -c 'echo one; echo two >&2' >>../log 2>>../log
is "two files to be appended to" "end one two" "$(words ../log)"

# Input that the command does not read is still the caller's.
seq 100000 >../list
n=0
while read -r line && [ $n -lt 3 ]; do
	n=$((n + 1))
	is "line" $n "$line"
	run -- true
done <../list
{
	read -r line
	run -- sh -c 'read a; read b; echo "$a $b"'
	read -r line
} <../list >../said
is "what the command read" "2 3" "$(cat ../said)"
is "what is left" 4 "$line"
is "all the rest" "$(seq 2 100000 | cksum)" "$({ read -r _; run -- cat; } <../list | cksum)"
# Not even where the command writes to its own input is anything read twice.
seq 5 >../few
{
	read -r line
	run -- sh -c 'head -c 1000 /dev/zero >/dev/stdin'
	read -r line
} <../few
is "no line again" 2 "$line"
is "an empty file" 0 "$(run -- wc -c </dev/null)"

# /dev/stdin, /dev/stdout, /dev/stderr and /dev/fd are files that can be opened, as anybody.
echo 'echo "$0 ran"' >../script
is "a script" "/dev/stdin ran" "$(run -- sh /dev/stdin <../script)"
is "by its number" 'echo "$0 ran"' "$(run -- cat /dev/fd/0 <../script)"
run -- sh -c 'echo out >/dev/stdout; echo err >/dev/stderr' >../said 2>../err
is "output" "out err" "$(cat ../said ../err | tr '\n' ' ' | sed 's/ $//')"
if [ "$(id -u)" = 0 ]; then
	cat >../user.sh <<'S'
set -eu
mkdir -p q
cd q
git init -q .
echo 'echo "$0 ran"' >../script
[ "$("$WARDFS" run -- sh /dev/stdin <../script)" = "/dev/stdin ran" ]
"$WARDFS" run -- sh -c 'echo x >/dev/stdout' >../out
[ "$(cat ../out)" = x ]
S
	(as_user "$WARD_TMP/user.sh") || fail "as an ordinary user"
fi

# Against what it was opened for: an error, as before (nohup(1) gives such an input).
run -- sh -c 'read x || echo unreadable' 0>../write-only >../said
is "unreadable input" unreadable "$(cat ../said)"
run -- sh -c 'echo x 2>/dev/null || echo unwritable >&2' 1<../script 2>../said
is "unwritable output" unwritable "$(cat ../said)"

# A disk that is full: the command has an error, and so has the run.
if [ "$(id -u)" = 0 ]; then
	mkdir ../small
	mount -t tmpfs -o size=64k none ../small
	trap 'umount ../small 2>/dev/null || :' EXIT
	expect 125 sh -c '"$WARDFS" run -- sh -c "cat; echo \"cat \$?\" >&2" <../big >../small/out'
	has "$ERR" "cat 141"
	has "$ERR" "wardfs: cannot write standard output: No space left on device"
	is "as much as it takes" 65536 "$(wc -c <../small/out)"
	umount ../small
fi
# [limits] file holds for what is written by that way, too.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nfile = 100K\n' >../small.policy
expect 125 sh -c '"$WARDFS" run --policy ../small.policy -- cat big >../bounded'
has "$ERR" "cannot write standard output: File too large"
is "bounded" 102400 "$(wc -c <../bounded)"

# A socket that nobody reads any more is no failure of ours: the command ends over it.
python3 "$WARD_SRC/tests/cases/run/lib/given-socket.py" || fail "socket"

# --keep: what still runs writes on; input ends with the first command, and is the caller's again.
trap '"$WARDFS" kill given >/dev/null 2>&1 || :' EXIT
{
	run --keep --session given -- sh -c 'read a; echo "$a"; (while [ ! -e go ]; do sleep 0.1; done; cat; echo later) &'
	cat
} <../script >../kept 2>../err
is "first" 'echo "$0 ran"' "$(cat ../kept)"
: >go
wait_until 60 grep -q later ../kept || fail "what runs on lost its output: $(cat ../kept)"
# exec
is "exec, a script" "/dev/stdin ran" "$("$WARDFS" exec given sh /dev/stdin <../script)"
"$WARDFS" exec given -- sh -c 'for i in 1 2 3; do echo o$i; echo e$i >&2; done' >../both 2>&1
is "exec, order" "o1 e1 o2 e2 o3 e3" "$(words ../both)"
"$WARDFS" exec given cat <../big >../copy
cmp ../big ../copy || fail "exec: not everything arrived"
{
	"$WARDFS" exec given true
	read -r line
} <../list
is "exec, unread" 1 "$line"
"$WARDFS" kill given >/dev/null

# While the supervisor is stopped the command waits, and nothing is lost.
"$WARDFS" run -- sh -c ': >started; while [ ! -e onward ]; do sleep 0.05; done; cat; cat big' <../big >../copy &
pid=$!
wait_until 60 test -e started || fail "did not start"
kill -STOP "$pid"
: >onward
sleep 0.5
kill -CONT "$pid"
wait "$pid" || fail "stopped: $?"
cat ../big ../big | cmp - ../copy || fail "stopped: not everything arrived"
exit 0
