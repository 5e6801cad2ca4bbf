#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Applies and undoes where rename(2) knows no flags, as on a network file system: files get their
# content in place, by way of two copies. The same where something is mounted on a file. The control
# is the same project where files can be exchanged: there each gets another inode.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "mounts need root"
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
P=$WARD_TMP/p
PLAIN=$WARD_SRC/tests/cases/run/lib/review-plain.py
fresh() {
	cd "$WARD_TMP"
	rm -rf "${P:?}"
	project "$P"
	cd "$P"
	mkdir d e gone
	for f in a b c x d/one d/two e/one gone/f; do echo "old $f" >"$f"; done
	ln a a2
	chmod 640 b
	touch -d '2020-01-02 03:04:05.678' a b c
}
whole() {
	find . -path ./.git -prune -o -printf '%y %m %p %l %n\n' | sort -k3
	find . -type f ! -path './.git/*' -exec sha256sum {} + | sort -k2
	find . -type f ! -path './.git/*' -printf '%p %T@\n' | sort
}
names() { whole | sed 's/ [0-9.]*$//'; }
# All names of a file are known before it is written to ([tree] hardlinks).
WORK='find . >/dev/null; echo new >>a; echo new >b; rm c; rm -r gone; mkdir made; echo x >made/new; mv d/one moved
	mv d t; mv e d; mv t e; mv x y; mv e/two x; mv y e/two; ln b b2; head -c 300000 /dev/zero >e/big'
result() {
	[ "$(cat a a2 b b2 x e/two moved d/one made/new)" = "old a
new
old a
new
new
new
old d/two
old x
old d/one
old e/one
x" ] && [ ! -e c ] && [ ! -e gone ] && [ "$(stat -c %i a)" = "$(stat -c %i a2)" ] &&
		[ "$(stat -c %i b)" = "$(stat -c %i b2)" ] && [ ! -e y ] || fail "applied: $(whole)"
	[ -z "$(find . -name '.wardfs-apply*')" ] || fail "left behind: $(find . -name '.wardfs-apply*')"
}
# each NAME [WRAPPER...]: applied by way of it.
each() {
	name=$1
	shift
	fresh
	was=$(whole)
	expect 0 "$WARDFS" run --review -s "$name" -- sh -euc "$WORK"
	[ "$(whole)" = "$was" ] || fail "the project changed"
	a=$(stat -c %i a)
	b=$(stat -c %i b)
	expect 0 "$@" "$WARDFS" review apply --dry-run
	expect 0 "$@" "$WARDFS" review apply
	result
	[ "$(stat -c %i a)" = "$a" ] || fail "a is another file"
	now=$(whole)
	expect 0 "$@" "$WARDFS" review apply
	[ "$(whole)" = "$now" ] || fail "another apply changed something"
}

echo "--- control: files are exchanged"
each exact
[ "$(stat -c %i b)" != "$b" ] || fail "control: b was written to in place"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$was" ] || fail "undo: $(whole) was $was"

echo "--- rename(2) without flags: b is the same file, with other content"
each plain python3 "$PLAIN"
[ "$(stat -c %i b)" = "$b" ] || fail "b is another file"
expect 0 python3 "$PLAIN" "$WARDFS" review undo
[ "$(whole)" = "$was" ] || fail "undo: $(whole) was $was"

echo "--- exchanged, and taken back where that cannot be done"
each between
expect 0 python3 "$PLAIN" "$WARDFS" review undo
[ "$(whole)" = "$was" ] || fail "undo: $(whole) was $was"

echo "--- a link gets another target there, and has the old one again"
fresh
ln -s a link
ln -s a d/link
was=$(names)
expect 0 "$WARDFS" run --review -s links -- sh -euc 'ln -sfn b link; ln -sfn ../b d/link; echo new >>b; mv d t'
expect 0 python3 "$PLAIN" "$WARDFS" review apply --dry-run
expect 0 python3 "$PLAIN" "$WARDFS" review apply
linked() { [ "$(readlink link) $(readlink t/link) $(tail -1 b)" = "b ../b new" ]; }
linked || fail "links: $(names)"
expect 0 python3 "$PLAIN" "$WARDFS" review apply
linked || fail "another apply: $(names)"
[ -z "$(find . -name '.wardfs-apply*')" ] || fail "left behind: $(find . -name '.wardfs-apply*')"
expect 0 python3 "$PLAIN" "$WARDFS" review undo
[ "$(names)" = "$was" ] || fail "undo: $(names) was $was"
echo "--- the same, exchanged before, and once more"
expect 0 "$WARDFS" review apply
linked || fail "control: links are exchanged: $(names)"
expect 0 python3 "$PLAIN" "$WARDFS" review undo
[ "$(names)" = "$was" ] || fail "undo of an exchange: $(names) was $was"
expect 0 python3 "$PLAIN" "$WARDFS" review apply
linked || fail "applied again: $(names)"
expect 0 "$WARDFS" review undo
[ "$(names)" = "$was" ] || fail "undo: $(names) was $was"
echo "--- one that the host has changed stays"
ln -sfn c link
expect 1 python3 "$PLAIN" "$WARDFS" review apply
has "$ERR" "link: not applied: the project's file has changed since"
[ "$(readlink link)" = c ] || fail "the host's link is gone"

if command -v strace >/dev/null; then
	echo "--- killed in the middle of it: what another run finds is whole"
	for verb in apply undo; do
		for then in apply undo; do
			for n in 1 2 3 4 5; do
				fresh
				was=$(whole)
				expect 0 "$WARDFS" run --review -s "k$verb$then$n" -- sh -euc \
					'find . >/dev/null; head -c 300000 /dev/zero | tr "\0" x >>b; echo new >>a'
				[ $verb = apply ] || expect 0 "$WARDFS" review apply
				strace -f -qq -o "$WARD_TMP/trace" -e trace=pwrite64 -P "$PWD/b" \
					-e inject="pwrite64:signal=KILL:when=$n" python3 "$PLAIN" "$WARDFS" review $verb \
					>/dev/null 2>&1 || :
				[ $n -gt 1 ] || grep -q 'killed by SIGKILL' "$WARD_TMP/trace" ||
					fail "control: $verb was not killed"
				if [ $then = undo ]; then
					"$WARDFS" review undo >/dev/null 2>&1 || :
					[ "$(whole)" = "$was" ] || fail "$verb killed at $n, undo: $(whole)"
				else
					[ $verb = apply ] || expect 0 "$WARDFS" review undo
					expect 0 "$WARDFS" review apply
					[ "$(wc -c <b)" = 300006 ] && [ "$(cat a2)" = "old a
new" ] || fail "$verb killed at $n, apply: $(whole)"
					expect 0 "$WARDFS" review undo
					[ "$(whole)" = "$was" ] || fail "$verb killed at $n, apply, undo: $(whole)"
				fi
			done
		done
	done
fi
if command -v strace >/dev/null; then
	echo "--- killed while links change: they are as before or as after another run"
	kills=0
	for verb in apply undo; do
		for call in symlinkat linkat unlinkat fsync; do
			for n in 1 2 3 4 5 6; do
				fresh
				ln -s a link
				was=$(names)
				name=l$verb$call$n
				expect 0 "$WARDFS" run --review -s "$name" -- sh -euc 'ln -sfn b link'
				[ $verb = apply ] || expect 0 "$WARDFS" review apply
				strace -f -qq -o "$WARD_TMP/trace" -e trace=$call -e inject="$call:signal=KILL:when=$n" \
					python3 "$PLAIN" "$WARDFS" review $verb >/dev/null 2>&1 || :
				grep -q 'killed by SIGKILL' "$WARD_TMP/trace" || break
				kills=$((kills + 1))
				expect 0 "$WARDFS" review apply
				[ "$(readlink link)" = b ] || fail "$name: $(names)"
				expect 0 "$WARDFS" review undo
				[ "$(names)" = "$was" ] || fail "$name, undo: $(names)"
			done
		done
	done
	[ $kills -gt 8 ] || fail "control: killed $kills times"
fi
echo "--- something is mounted on the file"
fresh
was=$(whole)
expect 0 "$WARDFS" run --review -s busy -- sh -euc 'echo new >>b; echo new >>c'
mount --bind b b
b=$(stat -c %i b)
c=$(stat -c %i c)
expect 0 "$WARDFS" review apply
[ "$(cat b c)" = "old b
new
old c
new" ] && [ "$(stat -c %i b)" = "$b" ] && [ "$(stat -c %i c)" != "$c" ] || fail "busy: $(whole)"
umount b
[ "$(cat b)" = "old b
new" ] || fail "beneath: $(cat b)"
mount --bind b b
expect 0 "$WARDFS" review undo
umount b
[ "$(whole)" = "$was" ] || fail "undo: $(whole)"
