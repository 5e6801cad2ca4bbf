#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Review sessions from end to end: what is staged does not reach the project, apply puts it there
# file by file, and nothing else is touched. Attacks come with their control.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

CHANGES='echo new >>changed; rm removed; mv renamed moved; mv d e; echo more >>e/two; rm -r gone
	mkdir gone sub; echo b >gone/b; echo z >sub/z; ln -s changed link; mkfifo pipe
	[ "$(cat changed)" = "old changed
new" ] && [ ! -e removed ] && [ "$(ls gone)" = b ] && [ "$(cat e/one)" = "old d/one" ]
	printf "#!/bin/sh\n" >.envrc || :'

echo "--- the control: without review the changes are in the project"
fresh
"$WARDFS" run -- sh -c 'echo new >>changed' || fail "control"
[ "$(tail -1 changed)" = new ] || fail "the control did not reach the project"

echo "--- staged: the session sees its changes, the project does not"
fresh
before=$(digest)
expect 0 "$WARDFS" run --review -s one -- sh -euc "$CHANGES"
has "$ERR" "nothing is in the project yet: wardfs review one"
[ "$(digest)" = "$before" ] || fail "the project changed"

echo "--- apply"
expect 0 "$WARDFS" review one
has "$OUT" "M changed"
has "$OUT" "D removed"
has "$OUT" "R renamed -> moved"
has "$OUT" "R d -> e/"
expect 1 "$WARDFS" review apply --dry-run
[ "$(digest)" = "$before" ] || fail "--dry-run changed the project"
expect 125 "$WARDFS" review apply --manifest 0000
[ "$(digest)" = "$before" ] || fail "another manifest was applied"
expect 0 "$WARDFS" review apply changed
[ "$(tail -1 changed)" = new ] && [ -e removed ] || fail "one path applies that path"
expect 1 "$WARDFS" review apply
has "$ERR" "pipe: not applied"
[ ! -e removed ] && [ "$(cat moved)" = "old renamed" ] && [ "$(cat sub/z)" = z ] || fail "apply: $ERR; $(find . -path ./.git -prune -o -print)"
[ "$(cat e/two)" = "old d/two
more" ] && [ "$(ls gone)" = b ] && [ "$(readlink link)" = changed ] || fail "apply: $ERR; $(find . -path ./.git -prune -o -print)"
[ "$(cat untouched)" = "old untouched" ] || fail "an unchanged file was touched"
no_rest
after=$(digest)
expect 1 "$WARDFS" review apply
[ "$(digest)" = "$after" ] || fail "a second apply changed something"
expect 0 "$WARDFS" review discard
expect 0 "$WARDFS" review one
has "$OUT" "session one: discarded"
expect 0 "$WARDFS" run --review -s none -- sh -c 'echo x >changed'
expect 0 "$WARDFS" review discard
expect 125 "$WARDFS" review none

echo "--- discard, of a part"
fresh
before=$(digest)
expect 0 "$WARDFS" run --review -s part -- sh -c 'echo new >>changed; echo new >>d/one; rm removed; mv renamed moved; echo x >added'
expect 0 "$WARDFS" review discard changed d
has "$OUT" "2 discarded"
expect 1 "$WARDFS" review discard changed
has "$ERR" "changed: no staged change is there"
expect 0 "$WARDFS" review discard removed moved
expect 0 "$WARDFS" review
hasnt "$OUT" "changed
"
expect 0 "$WARDFS" review diff --name-status
[ "$OUT" = "$(printf 'A\tadded')" ] || fail "left: $OUT"
expect 0 "$WARDFS" review apply
[ "$(digest | grep -v ' ./added$')" = "$before" ] && [ "$(cat added)" = x ] || fail "what was discarded was applied"
list=$XDG_STATE_HOME/wardfs/reviews/part/discarded
for line in 'D 2 0 ../x;' 'D 9 0 x;' 'N 1;' 'D 2 0 a%2F..%2Fb;' 'x'; do
	cp "$list" "$WARD_TMP/list"
	echo "$line" >>"$list"
	expect 125 "$WARDFS" review part
	has "$ERR" "damaged"
	cp "$WARD_TMP/list" "$list"
done

echo "--- discard"
fresh
before=$(digest)
printf '[policy]\nversion = 1\nextends = medium\n[tree /workspace]\nchanges = discard\n' >../discard.policy
expect 0 "$WARDFS" run --policy ../discard.policy -- sh -c 'echo x >changed; cat changed'
has "$OUT" "x"
[ "$(digest)" = "$before" ] || fail "discard changed the project"

echo "--- what the host changed since is a conflict; the rest is applied"
fresh
expect 0 "$WARDFS" run --review -s two -- sh -c 'echo new >>changed; echo new >>d/one; echo new >d/two; rm removed; echo a >added'
sleep 0.1
touch -r d/two "$WARD_TMP/stamp"
printf 'OLD d/two\n' >d/two
touch -r "$WARD_TMP/stamp" d/two
echo host >>changed
echo host >>removed
echo host >added
expect 1 "$WARDFS" review apply
has "$ERR" "changed: not applied: the project's file has changed since"
has "$ERR" "removed: not applied"
has "$ERR" "added: not applied"
# Of the same size and the same times, but for the one that no program sets.
has "$ERR" "d/two: not applied"
[ "$(cat d/two)" = "OLD d/two" ] || fail "a change of the host with old times was lost"
[ "$(tail -1 changed)" = host ] && [ "$(tail -1 removed)" = host ] && [ "$(cat added)" = host ] ||
	fail "a change of the host was lost"
[ "$(tail -1 d/one)" = new ] || fail "the rest was not applied"

echo "--- a link in the place of a directory is not followed"
fresh
expect 0 "$WARDFS" run --review -s three -- sh -c 'echo new >d/target; echo new >>d/one'
mv d d.away
ln -s "$OUTSIDE" d
expect 1 "$WARDFS" review apply
[ "$(cat "$OUTSIDE/target")" = secret ] && [ ! -e "$OUTSIDE/one" ] || fail "apply followed a link"
rm d
mv d.away d
expect 0 "$WARDFS" review apply
[ "$(cat d/target)" = new ] || fail "control: without the link it is applied"

echo "--- what this host may execute is applied only by name"
fresh
printf '[policy]\nversion = 1\nextends = medium\n[files]\nwrite = /workspace\n' >../all.policy
expect 0 "$WARDFS" run --review -s four -- sh -c 'mkdir -p .idea; echo x >.idea/w.xml; ln -s /etc/passwd out'
expect 0 "$WARDFS" review four
has "$OUT" "! A out   (a link that leads out of the project)"
expect 1 "$WARDFS" review apply
[ ! -L out ] || fail "a link that leads out was applied"
expect 0 "$WARDFS" review apply out
[ -L out ] || fail "control: by its name it is applied"

echo "--- what was shown is what is applied"
fresh
expect 0 "$WARDFS" run --review -s shown -- sh -c 'echo new >>changed'
expect 0 "$WARDFS" review
manifest=$(echo "$OUT" | sed -n 's/^manifest //p')
object=$(ls -d "$XDG_STATE_HOME"/wardfs/reviews/shown/objects/*)
cp -a "$object" "$WARD_TMP/object"
echo forged >>"$object"
expect 125 "$WARDFS" review apply --manifest "$manifest"
has "$ERR" "what is staged is not what --manifest says"
[ "$(cat changed)" = "old changed" ] || fail "what was not shown was applied"
cp -a "$WARD_TMP/object" "$object"
expect 0 "$WARDFS" review apply --manifest "$manifest"

echo "--- a file that today's policy hides is not overwritten, and not removed"
fresh
expect 0 "$WARDFS" run --review -s hidden -- sh -c 'echo new >changed; rm removed; echo x >d/new; echo y >added'
expect 0 "$WARDFS" policy add --guard hide changed
expect 0 "$WARDFS" policy add --guard hide removed
expect 0 "$WARDFS" policy add --guard hide /workspace/d/new
expect 1 "$WARDFS" review apply
has "$ERR" "changed: not applied: today's policy refuses it"
has "$ERR" "removed: not applied: today's policy refuses it"
[ "$(cat changed removed)" = "old changed
old removed" ] && [ ! -e d/new ] && [ "$(cat added)" = y ] || fail "a hidden file was changed"
rm "$XDG_CONFIG_HOME"/wardfs/projects/*.policy
expect 0 "$WARDFS" review apply
[ "$(cat changed)" = new ] && [ ! -e removed ] || fail "control: without the guards it is applied"

echo "--- the store is out of the session's reach"
fresh
store=$(echo "$XDG_STATE_HOME"/wardfs/reviews)
[ -d "$store" ] || fail "control: $store"
expect 0 "$WARDFS" run --review -s five -- sh -c "echo x >new; [ ! -e '$store' ] && ! ls /proc/*/fd/ 2>/dev/null | grep reviews"
expect 2 "$WARDFS" run --review --mode process -- true
has "$ERR" "could reach what is staged"

echo "--- a journal that names a way out is refused"
journal=$store/five/journal
cp "$journal" "$WARD_TMP/journal"
for line in 'W 90 100000;N 1 .. 90 -;' 'F 91 100000 0 ../x 1:1:1:644:1:0:0:1:1:1;' 'N 1 a%2Fb 2 -;' 'S 4000000 -;'; do
	cp "$WARD_TMP/journal" "$journal"
	echo "$line" >>"$journal"
	expect 125 "$WARDFS" review five
	has "$ERR" "damaged"
done
cp "$WARD_TMP/journal" "$journal"
expect 0 "$WARDFS" review five

echo "--- killed at any moment, each file is as before or as after, and another apply finishes"
for i in 1 2 3 4 5 6; do
	fresh
	for n in $(seq 60); do echo "old $n" >"f$n"; done
	own
	expect 0 "$WARDFS" run --review -s "kill$i" -- sh -c 'for n in $(seq 60); do echo "new $n" >f$n; done'
	"$WARDFS" review apply >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i * 2))"
	kill -9 $pid 2>/dev/null || :
	wait $pid || :
	for n in $(seq 60); do
		case $(cat "f$n") in
		"old $n" | "new $n") ;;
		*) fail "f$n is neither: $(cat "f$n")" ;;
		esac
	done
	expect 0 "$WARDFS" review apply
	[ "$(cat f1)" = "new 1" ] && [ "$(cat f60)" = "new 60" ] || fail "another apply did not finish"
	no_rest
done

echo "--- names with control characters are escaped"
fresh
expect 0 "$WARDFS" run --review -s ctl -- python3 -c 'open("x\033[31my\n", "w").close()'
expect 0 "$WARDFS" review ctl
! printf '%s' "$OUT" | grep -q "$(printf '\033')" || fail "an escape sequence was printed"

echo "--- what moves makes room for one another, in any order"
fresh
for n in $(seq 300); do echo "$n" >"n$n"; done
own
expect 0 "$WARDFS" run --review -s chain -- sh -c 'for n in $(seq 300 -1 1); do mv n$n n$((n + 1)); done'
expect 0 "$WARDFS" review apply
[ ! -e n1 ] && [ "$(cat n2)" = 1 ] && [ "$(cat n301)" = 300 ] || fail "the chain: $(ls)"

echo "--- of a file with several names, the one that the session removed or renamed"
fresh
echo two >first
ln first second
ln first third
chown -h --reference=. first
# The journal knows the file by `second` from then on.
expect 0 "$WARDFS" run --review -s names -- sh -euc 'mv second x; mv x second; rm first'
expect 0 "$WARDFS" review names
has "$OUT" 'D first'
hasnt "$OUT" 'second'
expect 0 "$WARDFS" review apply
[ ! -e first ] && [ "$(cat second third)" = "two
two" ] || fail "another name was removed: $(ls)"
expect 0 "$WARDFS" review discard
expect 0 "$WARDFS" run --review -s names2 -- sh -euc 'mv second x; mv x second; mv third fourth; ln second fifth'
expect 0 "$WARDFS" review apply
[ "$(echo f*th second)" = "fifth fourth second" ] && [ ! -e third ] || fail "names: $(ls)"
[ "$(stat -c %i second fourth fifth | sort -u | wc -l)" = 1 ] || fail "another file: $(ls -li)"

echo "--- a new directory in the place of one that was renamed"
fresh
expect 0 "$WARDFS" run --review -s place -- sh -euc 'mv d e; mkdir -m 755 d empty; mv gone full; mkdir gone; echo x >d/new'
expect 0 "$WARDFS" review apply
[ "$(cat d/new e/one)" = "x
old d/one" ] && [ -d gone ] && [ -e full/a ] || fail "directories: $(ls -R)"
