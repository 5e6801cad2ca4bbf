#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A nested tree covers what lies in its place, wherever the outer tree shows. The kernel detaches
# a mount whose name cannot be looked up. No process inside can cause that. If the host does,
# wardfs refuses what was covered and ends the session.
# plain
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >uncover.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
mkdir -p p/a/inner p/b
[ "$(id -u)" != 0 ] || chown -R 4711:4711 p
echo covered >p/a/inner/covered
cd p || exit 1
cat >u.policy <<'P'
[policy]
version = 1
[tree /workspace]
source = .
[tree /workspace/a/inner]
source = tmpfs:4M
[files]
write = /workspace
P
run() {
	"$WARDFS" run --policy u.policy "$@"
}
# The control: what is there shows where no tree covers it.
sed '/inner/d; s/^source = tmpfs.*//' u.policy >control.policy
expect 0 "$WARDFS" run --policy control.policy -- cat a/inner/covered /workspace/a/inner/covered
# It covers wherever the tree above is seen, and the way there stays.
expect 0 run -- sh -c 'test ! -e a/inner/covered && echo x >a/inner/new && cat /workspace/a/inner/new'
[ ! -e a/inner/new ] || fail "not covered"
expect 0 "$WARDFS" run --policy control.policy -- sh -c 'mv a c && mv c a'
expect 1 run -- mv a c
has "$ERR" "busy"
has "$ERR" "1 refused: rename /workspace/a"
expect 0 "$WARDFS" audit denials
has "$OUT" "another tree lies there, or beneath it"
hasnt "$OUT" "to permit"
expect 1 run -- rmdir a/inner
# A directory above may change, also so that it cannot be looked into: the kernel would take what
# cannot be looked up for gone, with what is mounted on it.
expect 0 run -- sh -c 'cd /workspace; chmod 0 a b; stat b/x 2>/dev/null && exit 9
for i in 1 2; do stat a/inner >/dev/null && test ! -e a/inner/covered || exit 1; sleep 0.6; done
ls a 2>/dev/null && exit 9
echo x >a/inner/mine; chmod 755 a b; sleep 1; stat b >/dev/null; cat a/inner/mine; rm a/inner/mine'
[ "$OUT" = x ] || fail "chmod: $OUT"
[ ! -e a/inner/mine ] || fail "written where it was not meant to be"
cp "$WARD_SRC/tests/cases/sandbox/lib/uncover-again.py" again.py
expect 0 run -- python3 /workspace/again.py
# Another policy does not take it away either: one that hides the place, too.
rm -f up
run --session live -- sh -c 'cd /workspace; echo live >a/inner/f; : >up; while test -e up; do cat a/inner/*; sleep 0.1; done 2>/dev/null >&2
cat a/inner/*' >out 2>err &
pid=$!
wait_until 60 test -e up || fail "not started: $(cat err)"
sed 's|^write.*|&\nhide = /workspace/a/inner\nread = /workspace/u.policy|' u.policy >live.policy
expect 0 "$WARDFS" policy reload live live.policy
sleep 1
expect 0 "$WARDFS" policy reload live u.policy
rm up
wait $pid || fail "reload: $(cat err)"
[ "$(cat out)" = live ] || fail "reload: $(cat out err)"
# The host's own mounts of the same kind may come and go: mode process shows them.
if [ "$(id -u)" = 0 ]; then
	mkdir ../src ../mnt
	expect 0 "$WARDFS" mount --session beside ../src ../mnt
	rm -f up
	"$WARDFS" run --mode process --policy u.policy -- sh -c ': >up; while test -e up; do sleep 0.1; done' 2>err &
	pid=$!
	wait_until 60 test -e up || fail "not started: $(cat err)"
	expect 0 "$WARDFS" umount --lazy ../mnt
	rmdir ../mnt
	sleep 1
	rm up
	wait $pid || fail "exit $?: $(cat err)"
fi
# From outside. Once the kernel has heard of it, and until the session's end, for which pid 1 has to
# run, the place shows nothing; before that it is the tree beneath.
rm -f up again
"$WARDFS" run --policy u.policy --session outside -- sh -c 'cd /workspace; : >up; until test -e again; do sleep 0.1; done
n=0
until cat a/inner/covered 2>&1 | tee /dev/stderr | grep -q denied || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done
for f in a/inner/covered $OLDPWD/a/inner/covered a/inner/no; do cat $f 2>&1 || echo x >a/inner/mine; done
ls a/inner; mkdir a/inner/d; ln b/f a/inner/f; : >done; sleep 600' >out 2>&1 &
pid=$!
wait_until 60 test -e up || fail "not started: $(cat out)"
init=$(pgrep -P $pid -x wardfs-init) || fail "no pid 1"
kill -STOP "$init"
rm -r a/inner
mkdir a/inner
echo covered >a/inner/covered
echo f >b/f
[ "$(id -u)" != 0 ] || chown -R 4711:4711 a b
: >again
wait_until 60 test -e done || fail "uncovered: $(cat out)"
kill -CONT "$init"
got=0
wait $pid || got=$?
[ $got = 125 ] || fail "exit $got: $(cat out)"
has "$(cat out)" "disappeared"
grep -qx covered out && fail "shown: $(cat out)"
[ "$(ls a/inner)" = covered ] || fail "changed what is covered: $(ls a/inner)"
same=$(grep -c "Permission denied" out) || :
[ "$same" -ge 6 ] || fail "not refused: $(cat out)"
expect 0 "$WARDFS" audit show --json --kind deny outside
has "$OUT" '"path":"/workspace/a/inner/covered"'
has "$OUT" "another tree lies there"
has "$("$WARDFS" audit show --json --kind session.end outside)" "disappeared"
expect 0 "$WARDFS" audit verify outside

# From inside: who asks for a directory above to be removed or renamed is killed while the request
# waits. The kernel then takes the name for gone, whatever the answer would have been. A signal
# alone does not do that, nor does it where a look at the name waits, or the request was just taken:
# then once more. (An ordinary user's requests are taken at once, if they come over io_uring.)
cp "$WARD_SRC/tests/cases/sandbox/lib/uncover-asks.py" asks.py
halted() {
	! grep -qv ") T " "/proc/$guard"/task/*/stat
}
waits() { # STATE
	asks=$(pgrep -P "$python" -x asks) && grep -q "(asks) $1 " "/proc/$asks/stat"
}
# up N: it has said so, so many times
up() {
	[ "$(grep -cx up out)" -ge "$1" ]
}
asked() {
	up $((try + 1)) || [ -e done ]
}
over() {
	gone "$asks" || waits D
}
# killed CALL SIGNAL: what came of it stands in out, the exit status in $got
killed() {
	rm -f done out
	"$WARDFS" run --policy u.policy --session "$1-$2" -- python3 /workspace/asks.py "$1" >out 2>&1 &
	pid=$!
	wait_until 60 up 1 || fail "not started: $(cat out)"
	init=$(pgrep -P $pid -x wardfs-init) || fail "no pid 1"
	guard=$(pgrep -P $pid -x wardfs-fs) || fail "no wardfs-fs"
	python=$(pgrep -P "$init" -x python3) || fail "no python3"
	[ "$2" = USR2 ] || kill -STOP "$init"
	for try in $(seq 50); do
		kill -STOP "$guard"
		wait_until 60 halted || fail "not halted: $(cat "/proc/$guard"/task/*/stat)"
		kill -USR1 "$python"
		wait_until 60 waits S || fail "$1 does not wait, $try"
		kill "-$2" "$asks"
		wait_until 60 over || fail "not interrupted: $(cat "/proc/$asks/stat")"
		kill -CONT "$guard"
		[ "$2" != USR2 ] || break
		wait_until 60 asked || fail "$1: $(cat out)"
		[ ! -e done ] || break
	done
	kill -CONT "$init"
	got=0
	wait $pid || got=$?
}
if [ "$(id -u)" = 0 ]; then
	killed rmdir USR2
	[ $got = 0 ] || fail "exit $got: $(cat out)"
	has "$(cat out)" "Device or resource busy
No such file or directory
None
['mine']"
	for call in rmdir rename; do
		killed $call KILL
		[ $got = 125 ] || fail "$call: exit $got: $(cat out)"
		has "$(cat out)" "disappeared"
		[ "$(grep -c "^Permission denied" out)" = 3 ] || fail "$call: uncovered: $(cat out)"
		expect 0 "$WARDFS" audit show --json --kind deny "$call-KILL"
		has "$OUT" '"path":"/workspace/a/inner/covered"'
		has "$OUT" "another tree lies there"
	done
	[ "$(ls a/inner)" = covered ] || fail "changed what is covered: $(ls a/inner)"
fi

# A tree in a directory of the host that the view shows: without it the host's own would show.
mkdir -p ../shown/tree
echo key >../shown/tree/key.pem
cat >shown.policy <<P
[policy]
version = 1
[tree /workspace]
source = .
[tree $WARD_TMP/shown/tree]
source = $WARD_TMP/shown/tree
[system]
read = $WARD_TMP/shown
[files]
write = /workspace
read = $WARD_TMP/shown
hide = *.pem
P
rm -f up
"$WARDFS" run --policy shown.policy -- sh -c 'ls "$0"; : >up; until test -e "$0/key.pem"; do sleep 0.1; done; sleep 600' \
	"$WARD_TMP/shown/tree" >out 2>err &
pid=$!
wait_until 60 test -e up || fail "not started: $(cat err)"
[ ! -s out ] || fail "control: not hidden: $(cat out)"
rm -r ../shown/tree
mkdir ../shown/tree
echo key >../shown/tree/key.pem
got=0
wait $pid || got=$?
[ $got = 125 ] || fail "exit $got: $(cat err)"
has "$(cat err)" "disappeared"

# Nor does a link choose another place, which the tree would cover then: the last name, or one
# before.
rm -r a
mkdir -p a/share
"$WARDFS" run --policy u.policy -- true 2>/dev/null && fail "control: no directory is there"
ln -s /usr/share a/inner
expect 125 run -- ls /usr/share
has "$ERR" "a symbolic link is at this path"
rm -r a
ln -s /usr a
sed -i 's|a/inner|a/share|' u.policy
expect 125 run -- ls /usr/share
has "$ERR" "a symbolic link is at this path"
rm a
mkdir -p a/share
[ "$(id -u)" != 0 ] || chown -R 4711:4711 a
expect 0 run -- grep -c '^wardfs /workspace/a/share ' /proc/self/mounts
S
cp uncover.body uncover.sh
chmod 755 "$WARD_TMP"
sh ./uncover.sh || fail "as root"
as_user "$WARD_TMP/uncover.sh" || fail "as an ordinary user"
