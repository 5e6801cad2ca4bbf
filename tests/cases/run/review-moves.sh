#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names that change places, and directories with attributes of their own, at apply and undo. The
# controls: the same with one of both alone, and what the host did in between.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"
SWAP='mv changed t; mv removed changed; mv t removed; mv d t; mv gone d; mv t gone'
# swapped: both, with their inodes.
swapped() {
	[ "$(cat changed removed)" = "old removed
old changed" ] && [ "$(cat d/a gone/one)" = "old gone/a
old d/one" ]
}
inodes() { stat -c '%n %i' changed removed d gone d/* gone/*; }

echo "--- two files and two directories change places"
fresh
before=$(whole)
numbers=$(inodes)
expect 0 "$WARDFS" run --review -s swap -- sh -euc "$SWAP"
expect 0 "$WARDFS" review swap
has "$OUT" "R changed -> removed"
has "$OUT" "R removed -> changed"
expect 0 "$WARDFS" review apply --dry-run
[ "$(whole)" = "$before" ] || fail "--dry-run changed the project"
expect 0 "$WARDFS" review apply
swapped || fail "not swapped: $(whole)"
expect 0 "$WARDFS" review apply
swapped || fail "a second apply changed something"
echo "--- and back"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] && [ "$(inodes)" = "$numbers" ] || fail "undo: $(whole)"
expect 0 "$WARDFS" review apply
swapped || fail "after an undo: $(whole)"

echo "--- a name means both, since it is in both; what policy refuses of one keeps the other one"
expect 0 "$WARDFS" review undo removed d
[ "$(whole)" = "$before" ] || fail "undo of names: $(whole)"
expect 0 "$WARDFS" policy add --guard read removed
expect 1 "$WARDFS" review apply changed removed
has "$ERR" "not applied: today's policy refuses it"
[ "$(whole)" = "$before" ] || fail "half of a swap was applied: $(whole)"
rm "$XDG_CONFIG_HOME"/wardfs/projects/*.policy

echo "--- what the host changed meanwhile"
echo host >>removed
expect 1 "$WARDFS" review apply changed removed
[ "$(tail -1 removed)" = host ] && [ "$(cat changed)" = "old changed" ] || fail "the host's file moved"
fresh
expect 0 "$WARDFS" run --review -s swap2 -- sh -euc "$SWAP"
expect 0 "$WARDFS" review apply
rm changed
echo other >changed
own
expect 1 "$WARDFS" review undo
[ "$(cat changed)" = other ] && [ "$(cat removed)" = "old changed" ] || fail "an undo moved the host's"

echo "--- renamed and changed: a second apply has nothing to do"
fresh
before=$(whole)
expect 0 "$WARDFS" run --review -s again -- sh -euc 'mv renamed moved; echo new >>moved'
expect 0 "$WARDFS" review apply
after=$(whole)
expect 0 "$WARDFS" review apply
[ "$(whole)" = "$after" ] || fail "a second apply changed something: $(whole)"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "undo: $(whole)"

echo "--- content with it, and killed at any moment"
for i in 1 2 3 4; do
	fresh
	expect 0 "$WARDFS" run --review -s "kill$i" -- sh -euc "$SWAP; echo new >>changed"
	"$WARDFS" review apply -s "kill$i" >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i * 2))"
	kill -9 $pid 2>/dev/null || :
	wait $pid || :
	expect 0 "$WARDFS" review apply -s "kill$i"
	[ "$(cat changed removed)" = "old removed
new
old changed" ] || fail "another apply did not finish: $(cat changed removed)"
	no_rest
	expect 0 "$WARDFS" review undo -s "kill$i"
	[ "$(cat changed removed)" = "old changed
old removed" ] && [ "$(cat d/one gone/a)" = "old d/one
old gone/a" ] || fail "undo: $(whole)"
done

echo "--- three and more in a circle: files, directories, with content"
fresh
mkdir x y z
for f in x y z; do echo "old $f" >$f/in; done
own
before=$(whole)
numbers=$(stat -c '%n %i' changed removed renamed x y z)
expect 0 "$WARDFS" run --review -s circle -- sh -euc 'mv changed t; mv removed changed; mv renamed removed
	mv t renamed; mv x t; mv y x; mv z y; mv d z; mv t d; echo new >>renamed'
turned() {
	[ "$(cat changed removed renamed)" = "old removed
old renamed
old changed
new" ] && [ "$(cat x/in y/in z/one d/in)" = "old y
old z
old d/one
old x" ]
}
expect 0 "$WARDFS" review apply --dry-run
[ "$(whole)" = "$before" ] || fail "--dry-run changed the project"
expect 0 "$WARDFS" review apply
turned || fail "not turned: $(whole)"
expect 0 "$WARDFS" review apply
turned || fail "a second apply changed something"
expect 0 "$WARDFS" review undo --dry-run
turned || fail "undo --dry-run changed the project"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] && [ "$(stat -c '%n %i' changed removed renamed x y z)" = "$numbers" ] ||
	fail "undo: $(whole)"

echo "--- a part of one stays, and is named; so does one that the host was in"
expect 0 "$WARDFS" policy add --guard read removed
expect 1 "$WARDFS" review apply changed removed renamed
has "$ERR" "changed: not applied"
[ "$(whole)" = "$before" ] || fail "a part of a circle was applied: $(whole)"
rm "$XDG_CONFIG_HOME"/wardfs/projects/*.policy
echo host >>removed
whole >"$WARD_TMP/host"
expect 1 "$WARDFS" review apply changed removed renamed
has "$ERR" "changed: not applied: the project's file has changed since"
has "$ERR" "removed: not applied: the project has another file of this name"
whole | cmp - "$WARD_TMP/host" || fail "the host's file moved"

if command -v strace >/dev/null && [ "$(id -u)" = 0 ]; then
	echo "--- killed between two exchanges: apply finishes, undo takes back"
	for verb in apply undo; do
		for then in apply undo; do
			for n in 1 2; do
				fresh
				before=$(whole)
				expect 0 "$WARDFS" run --review -s "c$verb$then$n" -- sh -euc \
					'mv changed t; mv removed changed; mv renamed removed; mv t renamed'
				[ $verb = apply ] || expect 0 "$WARDFS" review apply
				strace -f -qq -o "$WARD_TMP/trace" -e trace=renameat2 \
					-e inject="renameat2:signal=KILL:when=$n" "$WARDFS" review $verb >/dev/null 2>&1 || :
				grep -q 'killed by SIGKILL' "$WARD_TMP/trace" || fail "control: $verb was not killed"
				if [ $then = undo ]; then
					expect 0 "$WARDFS" review undo
					[ "$(whole)" = "$before" ] || fail "$verb killed at $n, undo: $(whole)"
				else
					[ $verb = apply ] || expect 0 "$WARDFS" review undo
					expect 0 "$WARDFS" review apply
					[ "$(cat changed removed renamed)" = "old removed
old renamed
old changed" ] || fail "$verb killed at $n, apply: $(whole)"
				fi
			done
		done
	done
fi

echo "--- out of a directory that is renamed, over a file of one; and a second time"
fresh
before=$(whole)
mv_out='mv d e; mv e/one out; mv changed e/two; mv gone/a e/a; rm -r gone; mv e f'
expect 0 "$WARDFS" run --review -s out -- sh -euc "$mv_out; echo new >>f/two"
expect 0 "$WARDFS" review diff --patch
expect 0 "$WARDFS" review apply
after=$(whole)
[ "$(cat out f/two f/a)" = "old d/one
old changed
new
old gone/a" ] && [ ! -e d ] && [ ! -e gone ] && [ ! -e changed ] || fail "moved: $after"
expect 0 "$WARDFS" review apply
[ "$(whole)" = "$after" ] || fail "a second apply: $(whole)"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "undo: $(whole)"
echo "--- the directory first, by its name"
fresh
before=$(whole)
expect 0 "$WARDFS" run --review -s first -- sh -euc 'mv d e; mv e/one out; mv gone/a e/a; rm e/two; mv e f; echo new >>f/a'
expect 0 "$WARDFS" review apply f
[ ! -e out ] && [ "$(cat f/one f/two f/a)" = "old d/one
old d/two
old gone/a
new" ] || fail "the directory: $(whole)"
expect 0 "$WARDFS" review apply
[ "$(cat out)" = "old d/one" ] && [ ! -e f/one ] && [ ! -e f/two ] || fail "by parts: $(whole)"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "undo of parts: $(whole)"

echo "--- attributes, ACLs and default ACLs of directories that are made, and made again"
fresh
acl() { python3 "$WARD_SRC/tests/cases/run/lib/review-acl.py" "$@"; }
acl set gone
acl set d/acl
own
before=$(whole)
had=$(acl get gone)
cp "$WARD_SRC/tests/cases/run/lib/review-acl.py" "$WARD_TMP/acl.py"
chmod 644 "$WARD_TMP/acl.py"
expect 0 "$WARDFS" run --review -s acl --read "$WARD_TMP/acl.py" -- sh -euc \
	"rm -r gone d/acl; python3 '$WARD_TMP/acl.py' set new; mkdir plain"
expect 0 "$WARDFS" review apply
[ ! -e gone ] || fail "gone is there"
[ "$(acl get new)" = "$had" ] || fail "a new directory: $(acl get new), not $had"
has "$had" "user.test"
has "$had" "default"
[ "$(acl get plain)" != "$had" ] || fail "control: a directory without"
expect 0 "$WARDFS" review undo
[ "$(acl get gone)" = "$had" ] && [ "$(acl get d/acl)" = "$had" ] || fail "made again: $(acl get gone)"
[ "$(whole)" = "$before" ] || fail "undo: $(whole)"
