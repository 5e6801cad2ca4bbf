#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `review apply --merge`: a text that the host changed meanwhile, too. Where both fit, both are
# there afterwards; else the file is left alone and named. The control is the same apply without
# --merge. Attacks: merge drivers of the project, a base that somebody cut, a store through a
# mapping that sets no time, a link in the place of the file.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

# lines LINE=TEXT...: 30 numbered lines, some of them others.
lines() {
	for n in $(seq 30); do
		for w in "$@"; do
			[ "${w%%=*}" != "$n" ] || { echo "${w#*=}"; continue 2; }
		done
		echo "$n"
	done
}
# stage NAME COMMAND: a session with three texts.
stage() {
	fresh
	lines >f
	lines >g
	lines >h
	chmod 644 f g h
	own
	expect 0 "$WARDFS" run --review -s "$1" -- sh -euc "$2"
}
is() {
	file=$1
	shift
	[ "$(cat "$file")" = "$(lines "$@")" ] || fail "$file is not with $*: $(cat "$file")"
}
# What the host does: written in its place, as an editor may.
host() { sed "$2" "$1" >"$WARD_TMP/host" && cat "$WARD_TMP/host" >"$1"; }

echo "--- written in place, over a new file, and cut first: each merges"
stage ways 'sed s/^3$/three/ f >/tmp/f; cat /tmp/f >f; sed -i s/^3$/three/ g; sed s/^3$/three/ h >h.new; mv h.new h'
before=$(whole)
host f 's/^20$/host/'
sed -i 's/^20$/host/' g
host h 's/^20$/host/'
own
changed=$(digest)
expect 1 "$WARDFS" review apply
has "$ERR" "f: not applied: the project's file has changed since"
has "$ERR" "'wardfs review apply --merge' puts the changes"
[ "$(digest)" = "$changed" ] || fail "control: without --merge nothing of it comes"
expect 0 "$WARDFS" review apply --merge --dry-run
has "$OUT" "f: would be merged"
[ "$(digest)" = "$changed" ] || fail "--dry-run changed the project"
expect 0 "$WARDFS" review apply --merge
for f in f g h; do is $f 3=three 20=host; done
no_rest
[ -z "$(find "$XDG_STATE_HOME" -name parts)" ] || fail "a part was left"
expect 0 "$WARDFS" review
has "$OUT" "M f   (merged)"
expect 0 "$WARDFS" audit verify ways
record=$(find "$XDG_STATE_HOME" -name 'review.2' -path '*ways*')
has "$(cat "$record")" "\"after\":\"$(sha256sum <f | cut -d' ' -f1)\",\"part\":\"merged\""

echo "--- again, with and without --merge: there is nothing left to do"
after=$(whole)
expect 0 "$WARDFS" review apply --merge
expect 0 "$WARDFS" review apply
[ "$(whole)" = "$after" ] || fail "a second apply changed something"
echo "--- undo: what the host had, with its change"
expect 0 "$WARDFS" review undo
[ "$(digest)" = "$changed" ] || fail "undo: $(whole)"
expect 0 "$WARDFS" review apply --merge
[ "$(whole)" = "$after" ] || fail "after an undo: $(whole)"
host f 's/^10$/later/'
expect 1 "$WARDFS" review apply --merge f
has "$ERR" "f: not applied: the project's file has changed since"
is f 3=three 10=later 20=host

echo "--- the same lines, lines that touch, the same change, one that appends twice"
stage lines 'sed -i s/^3$/three/ f; sed -i s/^3$/three/ g; sed -i s/^3$/three/ h'
host f 's/^3$/host/'
host g 's/^4$/host/'
host h 's/^3$/three/;s/^9$/host/'
own
expect 1 "$WARDFS" review apply --merge
has "$ERR" "f: not applied: the project's file has changed since, and both changed the same lines"
has "$ERR" "g: not applied: the project's file has changed since, and both changed the same lines"
is f 3=host
is g 4=host
is h 3=three 9=host

echo "--- permissions: of whom changed them; of both, nobody's"
stage modes 'chmod 600 f; sed -i s/^3$/three/ f g h; chmod 600 h'
host f 's/^20$/host/'
host g 's/^20$/host/'
host h 's/^20$/host/'
chmod 640 g h
own
expect 1 "$WARDFS" review apply --merge
has "$ERR" "h: not applied: the project's file has changed since, and both changed its permissions"
[ "$(stat -c %a f g)" = "600
640" ] || fail "permissions: $(stat -c '%a %n' f g)"
is f 3=three 20=host

echo "--- no text, too long, and no base"
fresh
head -c 3000 /dev/zero >zeros
yes | head -c 1500000 >long
lines >gone.then
own
expect 0 "$WARDFS" run --review -s none -- sh -euc 'echo x >>zeros; echo x >>long; rm gone.then; echo y >gone.then'
echo host >>zeros
echo host >>long
echo host >>gone.then
changed=$(digest)
expect 1 "$WARDFS" review apply --merge
has "$ERR" "zeros: not applied: the project's file has changed since, and it is no text of up to 1 MiB"
has "$ERR" "long: not applied: the project's file has changed since, and wardfs did not keep"
has "$ERR" "gone.then: not applied: the project's file has changed since, and wardfs did not keep"
[ "$(digest)" = "$changed" ] || fail "a change of the host was lost"

echo "--- drivers and filters of the project do not run"
fresh
lines >f
git -c init.defaultBranch=m init -q .
printf 'f merge=evil diff=evil filter=evil\n' >.gitattributes
for key in merge.evil.driver diff.evil.textconv diff.evil.command filter.evil.clean filter.evil.smudge core.fsmonitor core.pager; do
	git config "$key" "touch $WARD_TMP/evil; true"
done
own
git -c safe.directory='*' add f .gitattributes 2>/dev/null
[ -e "$WARD_TMP/evil" ] || fail "control: git runs it"
rm "$WARD_TMP/evil"
expect 0 "$WARDFS" run --review -s evil -- sed -i 's/^3$/three/' f
host f 's/^20$/host/'
expect 0 "$WARDFS" review apply --merge f
is f 3=three 20=host
[ ! -e "$WARD_TMP/evil" ] || fail "a program of the project ran"

echo "--- a base that was cut is none"
stage cut 'sed -i s/^3$/three/ f'
host f 's/^20$/host/'
base=$(find "$XDG_STATE_HOME/wardfs/reviews/cut/bases" -type f -exec grep -lx 17 {} +)
cp -p "$base" "$WARD_TMP/base"
: >"$base"
expect 1 "$WARDFS" review apply --merge f
has "$ERR" "wardfs did not keep what the session saw"
is f 20=host
rm "$base"
ln -s "$WARD_TMP/base" "$base"
expect 1 "$WARDFS" review apply --merge f
is f 20=host
rm "$base"
cp -p "$WARD_TMP/base" "$base"
expect 0 "$WARDFS" review apply --merge f
is f 3=three 20=host

echo "--- a link in the place of the file is not followed"
stage link 'sed -i s/^3$/three/ f'
lines 20=outside >"$OUTSIDE/target"
rm f
ln -s "$OUTSIDE/target" f
expect 1 "$WARDFS" review apply --merge f
[ -L f ] && [ "$(cat "$OUTSIDE/target")" = "$(lines 20=outside)" ] || fail "a link was followed"

echo "--- a store through a mapping that sets no time is seen"
stage mapped 'sed s/^3$/three/ f >/tmp/f; cat /tmp/f >f'
python3 "$WARD_SRC/tests/cases/run/lib/review-store.py" f X mapped
# The time of change is another one now, as it would not be behind a mapping that was dirty before:
# the journal is told that one.
ctime() { python3 -c 'import os; print(os.stat("f").st_ctime_ns)'; }
journal=$XDG_STATE_HOME/wardfs/reviews/mapped/journal
was=$(grep -o '^F [0-9]* 100000 0 f [^;]*\|;F [0-9]* 100000 0 f [^;]*' "$journal" | head -1)
then=${was##*:}
now=$(ctime)
sed -i "s/$then/$now/g" "$journal"
expect 1 "$WARDFS" review apply f
has "$ERR" "f: not applied: the project's file has changed since"
[ "$(head -c 1 f)" = X ] || fail "a store was lost"
python3 "$WARD_SRC/tests/cases/run/lib/review-store.py" f 1
again=$(ctime)
sed -i "s/$now/$again/g" "$journal"
expect 0 "$WARDFS" review apply f
is f 3=three

echo "--- killed at any moment: before or after, and another apply finishes"
for i in 1 2 3 4; do
	stage "kill$i" 'for f in f g h; do sed -i s/^3$/three/ $f; done'
	for f in f g h; do host $f 's/^20$/host/'; done
	"$WARDFS" review apply -s "kill$i" --merge >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i * 2))"
	kill -9 $pid 2>/dev/null || :
	wait $pid || :
	for f in f g h; do
		case $(cat $f) in
		"$(lines 20=host)" | "$(lines 3=three 20=host)") ;;
		*) fail "$f is neither: $(cat $f)" ;;
		esac
	done
	expect 0 "$WARDFS" review apply -s "kill$i" --merge
	for f in f g h; do is $f 3=three 20=host; done
	no_rest
done
