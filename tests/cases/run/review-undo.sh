#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What review apply did is taken back by review undo: all or a part, later, after a discard, and
# never over what the host has done since.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

CHANGES='echo new >>changed; rm removed; mv renamed moved; mv d e; echo more >>e/two; rm -r gone
	mkdir gone sub; echo b >gone/b; echo z >sub/z; ln -s changed link; chmod 600 untouched
	echo first >hard; ln hard hard2; ln moved moved2'

echo "--- all of it"
fresh
ln -s one d/link
own
before=$(whole)
ino=$(stat -c %i changed removed)
expect 0 "$WARDFS" run --review -s one -- sh -euc "$CHANGES"
expect 125 "$WARDFS" review undo
has "$ERR" "no session of this project has been applied"
expect 0 "$WARDFS" review apply
after=$(whole)
[ "$before" != "$after" ] || fail "control: nothing was applied"
[ "$(stat -c %i hard moved)" = "$(stat -c %i hard2 moved2)" ] || fail "links are not one file"
no_rest
expect 0 "$WARDFS" review
has "$OUT" "M changed   (applied)"
has "$OUT" "by user $(id -u)"
expect 0 "$WARDFS" review undo --dry-run
[ "$(whole)" = "$after" ] || fail "undo --dry-run changed the project"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "undo: $OUT; $(whole | diff - - 2>&1 || :)
$(whole)
instead of
$before"
[ "$(stat -c %i changed removed)" = "$ino" ] || fail "other files came back"
expect 0 "$WARDFS" review
hasnt "$OUT" "(applied)"
echo "--- and once more, in both directions"
expect 0 "$WARDFS" review apply
[ "$(whole)" = "$after" ] || fail "apply after undo: $OUT $ERR"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "the second undo"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "an undo that has nothing to do"

echo "--- file by file; and after a discard"
expect 0 "$WARDFS" review apply
expect 0 "$WARDFS" review undo changed
[ "$(cat changed)" = "old changed" ] && [ ! -e removed ] || fail "undo of one path"
expect 0 "$WARDFS" review discard
expect 0 "$WARDFS" review one
has "$OUT" "session one: discarded"
expect 125 "$WARDFS" review apply -s one
has "$ERR" "has been discarded"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "undo after discard: $(whole)"

echo "--- what the host has changed since stays; the rest is undone"
fresh
expect 0 "$WARDFS" run --review -s two -- sh -euc "$CHANGES; echo x >added; echo y >added2"
expect 0 "$WARDFS" review apply
echo host >>changed
echo host >removed
echo host >>added
echo host >sub/other
rm e/two
ln -s "$OUTSIDE/target" e/two
expect 1 "$WARDFS" review undo
has "$ERR" "changed: not undone: the project's file has changed since it was applied"
has "$ERR" "removed: not undone: the project has another file of this name"
has "$ERR" "added: not undone: the project's file has changed"
has "$ERR" "sub: not undone: there are files in it"
has "$ERR" "e/two: not undone"
[ "$(tail -1 changed)" = host ] && [ "$(cat removed)" = host ] && [ "$(tail -1 added)" = host ] &&
	[ "$(cat sub/other)" = host ] || fail "a change of the host was lost"
[ "$(cat "$OUTSIDE/target")" = secret ] || fail "undo followed a link"
[ ! -e added2 ] && [ "$(cat renamed)" = "old renamed" ] && [ "$(cat d/one)" = "old d/one" ] ||
	fail "the rest was not undone: $(whole)"
# It is kept for when the host's file has gone away.
rm removed
expect 1 "$WARDFS" review undo
[ "$(cat removed)" = "old removed" ] || fail "control: with the name free it comes back"

echo "--- a link in the place of a directory is not followed"
fresh
expect 0 "$WARDFS" run --review -s three -- sh -c 'echo new >>d/one; echo new >d/target; rm d/two'
expect 0 "$WARDFS" review apply
mv d d.away
ln -s "$OUTSIDE" d
cp d.away/target "$OUTSIDE/target"
expect 1 "$WARDFS" review undo
[ "$(ls "$OUTSIDE")" = target ] && [ "$(cat "$OUTSIDE/target")" = new ] || fail "undo followed a link"
rm d
mv d.away d
expect 0 "$WARDFS" review undo
[ "$(cat d/two)" = "old d/two" ] && [ ! -e d/target ] || fail "control: without the link it is undone"

echo "--- a kept file that was changed does not come back"
fresh
expect 0 "$WARDFS" run --review -s four -- sh -c 'echo new >>changed; rm removed'
expect 0 "$WARDFS" review apply
undo=$XDG_STATE_HOME/wardfs/reviews/four/undo
cp -a "$undo" "$WARD_TMP/undo"
for f in "$undo"/[0-9]*; do echo forged >>"$f"; done
expect 1 "$WARDFS" review undo
has "$ERR" "what it displaced is missing or has changed"
[ ! -e removed ] && [ "$(tail -1 changed)" = new ] || fail "a forged file came back"

echo "--- a log that names a way out is refused"
for line in 'A 3 5 100000 644 1 0 ../x 0 . - -;' 'A 3 1 100000 644 1 0 a/../../x 0 . - -;' \
	'A 9 1 100000 644 1 0 x 0 . - -;' 'U 7 - 1;' 'A 3 1 100000 644 1 7 x 0 . - -;' 'Z'; do
	cp "$WARD_TMP/undo/log" "$undo/log"
	echo "$line" >>"$undo/log"
	expect 125 "$WARDFS" review undo -s four
	has "$ERR" "damaged"
done
cp "$WARD_TMP/undo/log" "$undo/log"
# Half a line is one that did not happen.
printf 'A 3 1 1000' >>"$undo/log"
expect 0 "$WARDFS" review four

echo "--- killed at any moment, each file is as before or as after, and another undo finishes"
for i in 1 2 3 4 5 6 7 8; do
	fresh
	for n in $(seq 60); do echo "old $n" >"f$n"; done
	own
	before=$(whole)
	expect 0 "$WARDFS" run --review -s "kill$i" -- sh -c 'for n in $(seq 60); do echo "new $n" >f$n; done; rm removed; mkdir m; echo m >m/m; mv d e'
	for what in apply undo; do
		"$WARDFS" review $what -s "kill$i" >/dev/null 2>&1 &
		pid=$!
		sleep "0.0$i"
		kill -9 $pid 2>/dev/null || :
		wait $pid || :
		for n in $(seq 60); do
			case $(cat "f$n") in
			"old $n" | "new $n") ;;
			*) fail "f$n is neither: $(cat "f$n")" ;;
			esac
		done
		# An apply of the kind that was ended is finished; then the undo.
		[ $what = undo ] || expect 0 "$WARDFS" review apply -s "kill$i"
		[ $what = undo ] || [ "$(cat f60)$(cat e/one)" = "new 60old d/one" ] || fail "another apply did not finish"
		no_rest
	done
	expect 0 "$WARDFS" review undo -s "kill$i"
	[ "$(whole)" = "$before" ] || fail "another undo did not finish: $(whole)"
	no_rest
done

echo "--- with [review] keep over, what was displaced goes"
fresh
expect 0 "$WARDFS" policy add --guard read other
file=$(echo "$XDG_CONFIG_HOME"/wardfs/projects/*.policy)
kept=$XDG_STATE_HOME/wardfs/reviews/keep/undo
expect 0 "$WARDFS" run --review -s keep -- sh -c 'echo new >>changed'
expect 0 "$WARDFS" review apply
expect 0 "$WARDFS" review keep
[ -d "$kept" ] || fail "control: within the time it is kept"
expect 0 "$WARDFS" review undo
cp "$file" "$WARD_TMP/policy"
printf '\n[review]\nkeep = 1s\n' >>"$file"
expect 0 "$WARDFS" run --review -s keep2 -- sh -c 'echo new >>changed'
expect 0 "$WARDFS" review apply
wait_until 20 sh -c "'$WARDFS' review keep2; [ ! -d '${kept%/keep/undo}/keep2/undo' ]"
expect 125 "$WARDFS" review undo -s keep2
has "$ERR" "nothing of session keep2 has been applied"
[ "$(tail -1 changed)" = new ] && [ -d "$kept" ] || fail "more went than what is over"
cp "$WARD_TMP/policy" "$file"

echo "--- as an ordinary user"
cat >"$WARD_TMP/user.sh" <<'EOF'
set -eu
git init -q p
cd p
echo old >f
echo gone >gone
"$WARDFS" run --review -s mine -- sh -c "echo new >f; echo x >g; rm gone" 2>/dev/null
"$WARDFS" review apply
[ "$(cat f)" = new ] && [ "$(cat g)" = x ] && [ ! -e gone ]
"$WARDFS" review undo
[ "$(cat f)" = old ] && [ "$(cat gone)" = gone ] && [ ! -e g ]
"$WARDFS" audit verify mine
EOF
expect 0 as_user "$WARD_TMP/user.sh"
has "$OUT" "3 undone, 0 not"
cd "$PROJECT"

echo "--- where the state directory is on another file system, copies are kept"
XDG_STATE_HOME=$(mktemp -d /dev/shm/wardfs-review-XXXXXX)
export XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
[ "$(stat -c %d "$XDG_STATE_HOME")" != "$(stat -c %d "$WARD_TMP")" ] || fail "control: one file system"
for i in 1 2 3 4; do
	fresh
	for n in $(seq 40); do echo "old $n" >"f$n"; done
	ln -s one d/link
	own
	before=$(whole)
	expect 0 "$WARDFS" run --review -s "far$i" -- sh -euc "$CHANGES"'; for n in $(seq 40); do echo "new $n" >f$n; done; ln -sf two e/link'
	"$WARDFS" review apply >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i * 2))"
	kill -9 $pid 2>/dev/null || :
	wait $pid || :
	expect 0 "$WARDFS" review apply
	no_rest
	[ "$(cat f40)$(readlink e/link)" = "new 40two" ] || fail "apply: $(whole)"
	[ "$i" != 1 ] || echo host >f7
	"$WARDFS" review undo >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i * 2))"
	kill -9 $pid 2>/dev/null || :
	wait $pid || :
	if [ "$i" = 1 ]; then
		expect 1 "$WARDFS" review undo
		has "$ERR" "f7: not undone"
		[ "$(cat f7)" = host ] || fail "a change of the host was lost"
		echo "old 7" >f7
	else
		expect 0 "$WARDFS" review undo
	fi
	[ "$(whole)" = "$before" ] || fail "undo from copies: $(whole)"
	no_rest
done
expect 0 "$WARDFS" review apply
[ "$(cat f40)" = "new 40" ] || fail "apply after undo from copies: $ERR"
