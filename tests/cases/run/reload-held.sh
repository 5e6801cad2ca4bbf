#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs policy reload takes rights away from files that are already open, however they are read
# and written: by passthrough (root), the page cache and the daemon (an ordinary user).
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# begun FILE: the process $held has opened everything, or is dead
begun() { [ -e "$1" ] || gone "$held"; }
# However it ends, nothing stays mounted.
trap '"$WARDFS" umount --lazy mnt >/dev/null 2>&1 || :' EXIT
cat >fill.sh <<'S'
mkdir dir gone
for i in hidden denied lower reader kept kept2 log plain pathed link-a unlinked dir/seen dir/unseen gone/x; do
	echo "text of $i" >"$i"
done
ln link-a link-b
S
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >open
{
	cat open
	printf 'hide = /workspace/%s\n' hidden unlinked dir/unseen gone pathed
	printf 'deny = /workspace/denied\nread = /workspace/lower\nread = /workspace/reader\n'
	printf 'append = /workspace/log\nappend = /workspace/plain\nread = /workspace/link-b\n'
} >tight
over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }

# As root, in a mount.
mkdir src mnt
(cd src && sh ../fill.sh)
expect 0 "$WARDFS" mount --session h1 --policy ./open src mnt
python3 "$WARD_SRC/tests/cases/run/lib/held.py" mnt "$WARD_TMP/started" "$WARD_TMP/go" passthrough >held.out 2>&1 &
held=$!
wait_until 60 begun started || fail "did not open: $(cat held.out)"
expect 0 "$WARDFS" policy reload h1 ./tight
has "$ERR" "open files that lost a right (passthrough)"
hasnt "$ERR" "could not be taken back"
# By name: who still maps what.
expect 0 "$WARDFS" ps --io h1
has "$OUT" "taken back by another policy"
touch go
wait "$held" || fail "$(cat held.out)"
for i in hidden lower link-a denied plain; do
	grep -q EVIL "src/$i" && fail "written to after the reload: $i"
done
# Looser again: what is opened now has all rights, also of files that went bad.
expect 0 "$WARDFS" policy reload h1 ./open
expect 0 sh -c 'cat mnt/hidden && echo new >>mnt/hidden && cat mnt/gone/x && echo new >mnt/lower'
grep -q new src/hidden || fail "control: not written"
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"
expect 0 "$WARDFS" audit verify h1

# As root, in a sandbox: the mount is another user's, in namespaces of its own. Rights that the
# command line of the run takes stay taken.
rm -rf src started go
mkdir src
git init -q src
(cd src && sh ../fill.sh && echo secret >run-hidden)
chmod -R a+rwX src
chown -R 4711:4711 src
cp "$WARD_SRC/tests/cases/run/lib/held.py" src/held.py
sed '/\[files\]/i [tree /workspace]\nsource = .' open >open.run
sed '/\[files\]/i [tree /workspace]\nsource = .' tight >tight.run
(cd src && exec "$WARDFS" run --session h2 --policy ../open.run --hide /workspace/run-hidden -- sh -c '
	[ ! -e run-hidden ] || exit 3
	python3 held.py . .started .go passthrough || exit 4
	[ ! -e run-hidden ] || exit 5') >held.out 2>&1 &
held=$!
wait_until 60 begun src/.started || fail "did not open: $(cat held.out)"
expect 0 "$WARDFS" policy reload h2 ./tight.run
has "$ERR" "open files that lost a right (passthrough)"
hasnt "$ERR" "could not be taken back"
touch src/.go
wait "$held" || fail "in a sandbox: $? $(cat held.out)"
grep -q EVIL src/hidden src/lower && fail "written to after the reload"
wait_until 60 over || fail "the session goes on"
expect 0 "$WARDFS" audit verify h2

# As an ordinary user, in a sandbox.
cat >inner.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
begun() { [ -e "$1" ] || gone "$held"; }
WARD_TMP=$HOME
cd "$HOME" || exit 1
mkdir work
cd work || exit 1
git init -q .
sh ../fill.sh
cp ../held.py held.py
"$WARDFS" run --session h3 --policy ../open.run -- python3 held.py . .started .go cached >../held.out 2>&1 &
held=$!
wait_until 60 begun .started || fail "did not open: $(cat ../held.out)"
expect 0 "$WARDFS" policy reload h3 ../tight.run
has "$OUT" "taken back:"
hasnt "$ERR" passthrough
touch .go
wait "$held" || fail "without root: $(cat ../held.out)"
grep -q EVIL hidden lower link-a plain && fail "written to after the reload"
[ "$(tail -n 1 log)" = two ] || fail "a log that may be appended to: $(cat log)"
wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "the session goes on"
expect 0 "$WARDFS" audit verify h3
exit 0
S
mkdir -p home
cp fill.sh open.run tight.run inner.sh home/
cp "$WARD_SRC/tests/cases/run/lib/held.py" home/held.py
chmod -R a+rX home
expect 0 as_user "$WARD_TMP/home/inner.sh"
exit 0
