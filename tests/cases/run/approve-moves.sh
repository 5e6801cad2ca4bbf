#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Renames and links from one directory to one directory join one question. The answer is for each of
# them, as its text shows them, and for no other pair of their paths. Each attack has its control.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project 'ask = /workspace/src/*/f*' '[approvals]' 'timeout = 300s'
mkdir -p .github/to .github/other
cp "$WARD_SRC"/tests/cases/run/lib/joined-moves.py .
# paths NAME: how many operations each question of the session shows.
paths() {
	"$WARDFS" approve --json --session "$1" |
		python3 -c 'import json, sys; print(*[1 + len(q.get("more", [])) for q in json.load(sys.stdin)])'
}
shows() { [ "$(paths "$1")" = "$2" ]; }
did() { sed -n 's/^did //p' "../$1.out" | sort | tr '\n' ','; }
verified() {
	expect 0 "$WARDFS" audit verify "$1"
	python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" "$1" >../theirs ||
		fail "the second verifier: $(cat ../theirs)"
}
fresh() {
	rm -rf .github/f* .github/to/* .github/other/* go stop
	for i in a b c; do echo $i >.github/f$i; done
}

echo "--- two renames are one question, which shows both pairs; both are done after the answer"
fresh
begin both python3 joined-moves.py rename .github/fa .github/to/fa .github/fb .github/to/fb no
wait_until 30 shows both 2 || fail "$("$WARDFS" approve)"
question both
expect 0 "$WARDFS" approve "$Q"
has "$OUT" "$Q.2  rename /workspace/.github/fa to /workspace/.github/to/fa (create,remove)"
has "$OUT" "and:       /workspace/.github/fb to /workspace/.github/to/fb"
has "$OUT" "yes allows: these 2 operations, and create,remove on each of their paths,"
has "$OUT" "yes widens: /workspace/.github/to/fb: "
expect 0 "$WARDFS" approve "$Q.2" yes
[ "$(echo "$ERR" | grep -o 'g[0-9a-f]\{12\}' | wc -l)" = 4 ] || fail "$ERR"
touch go
end 0 both
[ "$(did both)" = "fa fa,fb fb," ] || fail "did: $(did both)"
verified both
expect 0 "$WARDFS" audit approvals both
has "$OUT" "granted  create,remove /workspace/.github/fa -> /workspace/.github/to/fa, /workspace/.github/fb -> /workspace/.github/to/fb"

echo "--- attack: the pairs are crossed after the answer. The control is the pairs that were shown"
for one in rename link; do
	fresh
	begin crossed-$one python3 joined-moves.py $one .github/fa .github/to/f1 .github/fb .github/to/f2
	wait_until 30 shows crossed-$one 2 || fail "$one: $("$WARDFS" approve)"
	question crossed-$one
	expect 0 "$WARDFS" approve "$Q.2" yes
	touch go
	end 0 crossed-$one
	[ "$(did crossed-$one)" = "fa f1,fb f2," ] || fail "$one did: $(did crossed-$one)"
	# What was tried is a question of its own.
	"$WARDFS" audit show --json --kind ask crossed-$one | tail -n 1 |
		grep -q '"path2":"/workspace/.github/to/f2"' || fail "the crossed pair was not asked about"
	verified crossed-$one
done

echo "--- a person who gives more, gives more: a pattern over all of them covers the crossed pairs"
fresh
begin more python3 joined-moves.py rename .github/fa .github/to/f1 .github/fb .github/to/f2
wait_until 30 shows more 2 || fail "$("$WARDFS" approve)"
question more
expect 0 "$WARDFS" grant more write '/workspace/.github/**'
touch go
end 0 more
[ "$(did more)" = "fa f2,fb f1," ] || fail "did: $(did more)"
verified more

echo "--- the same where the pairs have an answer of their own before"
fresh
begin late sh -c 'python3 joined-moves.py rename .github/fa .github/to/f1 .github/fb .github/to/f2'
wait_until 30 shows late 2 || fail "$("$WARDFS" approve)"
question late
expect 0 "$WARDFS" approve "$Q.2" yes
expect 0 "$WARDFS" grant late write '/workspace/.github/**'
touch go
end 0 late
[ "$(did late)" = "fa f2,fb f1," ] || fail "did: $(did late)"
verified late

echo "--- attack: another pair joins after the person has looked. The name that was typed stands for what it showed"
fresh
begin first python3 joined-moves.py rename .github/fa .github/to/f1 .github/fb .github/to/f2 no
wait_until 30 shows first 2 || fail "$("$WARDFS" approve)"
question first
expect 0 "$WARDFS" approve "$Q" yes
touch go
end 0 first
[ "$(did first)" = "fa f1," ] || fail "did: $(did first)"
verified first

echo "--- what does not join: from or to another directory, an operation on one path, a link, a name of the question"
fresh
begin apart sh -c 'mv .github/fa .github/to/fa; mv .github/fb .github/other/fb; mv .github/to .github/fto; ln .github/fc .github/to/fc
	mkdir .github/to/fd; mv .github/fa .github/to/fx; mv .github/fb ".github/to/f b"; until [ -e stop ]; do sleep 0.1; done'
wait_until 30 shows apart '1 1 1 1 1 1 1' || fail "$("$WARDFS" approve)"
touch stop
end 0 apart
verified apart

echo "--- at most four pairs; once is one use, of the process that asked, for each"
fresh
for i in 1 2 3 4 5; do echo $i >.github/f$i; done
begin four sh -c 'for i in 1 2 3 4 5; do mv .github/f$i .github/to/f$i; done; until [ -e go ]; do sleep 0.1; done
	for i in 1 2 3 4 5; do mv .github/f$i .github/to/f$i; done'
wait_until 30 shows four '4 1' || fail "$(paths four): $("$WARDFS" approve)"
question four
expect 0 "$WARDFS" approve "$Q.4" once
touch go
end 1 four
[ -z "$(ls .github/to)" ] || fail "another process used it: $(ls .github/to)"
verified four
fresh
begin once python3 joined-moves.py rename .github/fa .github/to/f1 .github/fb .github/to/f2
wait_until 30 shows once 2 || fail "$("$WARDFS" approve)"
question once
expect 0 "$WARDFS" approve "$Q.2" once
touch go
end 0 once
[ "$(did once)" = "fa f1,fb f2," ] || fail "did: $(did once)"
verified once

echo "--- attack: directories whose names have the same sum"
cp "$WARD_SRC"/tests/cases/run/lib/joined-sums.py "$WARD_SRC"/tests/cases/run/lib/joined-sums-moves.py .
python3 joined-sums-moves.py make
begin sums python3 joined-sums-moves.py
end 0 sums
"$WARDFS" audit show --json --kind ask sums | python3 "$WARD_SRC/tests/cases/run/lib/joined-apart.py" ||
	fail "another directory joined"
verified sums
rm -rf src/*

echo "--- attack: the file of a link that joined is another one by then. The control is the one that stayed"
fresh
begin swap python3 joined-moves.py link .github/fa .github/to/f1 .github/fb .github/to/f2 no
wait_until 30 shows swap 2 || fail "$("$WARDFS" approve)"
question swap
echo other >other.new
mv other.new .github/fb
expect 0 "$WARDFS" approve "$Q.2" yes
touch go
end 0 swap
[ "$(did swap)" = "fa f1," ] || fail "did: $(did swap)"
verified swap

echo "--- all or nothing: one of the two names cannot have a grant, so the other one gets none"
fresh
begin none sh -c 'mv .github/fa "$(printf ".github/to/f\001")"; until [ -e go ]; do sleep 0.1; done; mv .github/fa .github/to/fa'
wait_until 30 shows none 1 || fail "$("$WARDFS" approve)"
question none
refused 'has a control character' "$WARDFS" approve "$Q" yes
expect 0 "$WARDFS" grants none
hasnt "$OUT" /workspace/.github/fa
touch go
end 1 none
if "$WARDFS" audit show --json --kind grant none | grep -q .; then fail "a grant is left"; fi
verified none

echo "--- signed: for the pairs that were shown to who signed"
fresh
"$WARDFS" token key ../key >../key.pub
printf '[approvals]\napprovers = 1\napprover = %s\n' "$(cat ../key.pub)" >>../ask.policy
begin signed python3 joined-moves.py rename .github/fa .github/to/f1 .github/fb .github/to/f2
wait_until 30 shows signed 2 || fail "$("$WARDFS" approve)"
question signed
"$WARDFS" approve --json "$Q" >../q.json
sed 's/f2"/f1"/' ../q.json >../q9.json
refused 'it was changed on its way' "$WARDFS" approve sign ../q9.json --key ../key path -o ../signed.9
expect 0 "$WARDFS" approve sign ../q.json --key ../key path -o ../signed.2
expect 0 "$WARDFS" approve "$Q" --signed ../signed.2
touch go
end 0 signed
[ "$(did signed)" = "fa f1,fb f2," ] || fail "did: $(did signed)"
verified signed
