#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the same rule asks about, for the same rights, in one directory, is one question. An answer
# is about the paths that its text shows, and gives nothing for others. Each attack has its control.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project 'ask = /workspace/other' 'ask = /workspace/src/*/f*' '[approvals]' 'timeout = 300s'
mkdir -p other
cp "$WARD_SRC/tests/cases/run/lib/joined.py" .
made() { sed -n 's/^made .*\/f//p' "../$1.out" | sort -n | tr '\n' ' '; }
# files DIR N: DIR/f0 and so on.
files() { python3 -c 'import sys; print(*[f"{sys.argv[1]}/f{i}" for i in range(int(sys.argv[2]))])' "$@"; }
# paths NAME: how many paths each question of the session shows.
paths() {
	"$WARDFS" approve --json --session "$1" |
		python3 -c 'import json, sys; print(*[1 + len(q.get("more", [])) for q in json.load(sys.stdin)])'
}
shows() { [ "$(paths "$1")" = "$2" ]; }
# asks NAME: of its trail, how many questions and how many texts.
asks() {
	"$WARDFS" audit show --json --kind ask "$1" |
		python3 -c 'import json, sys; q = [json.loads(l)["request"] for l in sys.stdin]; print(len(set(q)), len(q))'
}
verified() {
	expect 0 "$WARDFS" audit verify "$1"
	python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" "$1" >../theirs ||
		fail "the second verifier: $(cat ../theirs)"
}
fresh() { rm -rf .github/f* other/f* stop tried; }

echo "--- ten files: two questions; an answer is about the eight paths that the first one shows"
# shellcheck disable=SC2046
begin ten python3 joined.py $(files .github 10)
wait_until 30 shows ten '8 2' || fail "$(paths ten): $("$WARDFS" approve)"
question ten
expect 0 "$WARDFS" approve "$Q"
has "$OUT" "$Q.8  create /workspace/.github/f0 (create,write)"
for i in 1 2 3 4 5 6 7; do has "$OUT" "/workspace/.github/f$i"; done
hasnt "$OUT" /workspace/.github/f8
has "$OUT" "yes allows: create,write on these 8 paths until the session ends"
expect 0 "$WARDFS" approve --json "$Q.3"
[ "$(echo "$OUT" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["more"]))')" = 2 ] || fail "$OUT"
expect 1 "$WARDFS" approve "$Q.9" yes
expect 1 "$WARDFS" approve "$Q.0" yes
expect 0 "$WARDFS" approve "$Q.8" yes
wait_until 30 test -e .github/f7 || fail "$(cat ../ten.out)"
[ "$(made ten)" = "0 1 2 3 4 5 6 7 " ] || fail "made: $(made ten)"
question ten
expect 0 "$WARDFS" approve "$Q.2" once
end 0 ten
[ "$(asks ten)" = "2 10" ] || fail "questions and texts: $(asks ten)"
verified ten
expect 0 "$WARDFS" audit approvals ten
has "$OUT" "granted  create,write /workspace/.github/f0, /workspace/.github/f1, /workspace/.github/f2"

echo "--- attack: paths join after the person has looked. The name that was typed stands for what it showed"
fresh
# shellcheck disable=SC2046
begin later python3 joined.py $(files .github 5)
wait_until 30 shows later 5 || fail "$(paths later)"
question later
expect 0 "$WARDFS" approve "$Q" yes
wait_until 30 test -e .github/f0 || fail "the first path is not allowed"
# The others are another question.
other() { [ "$(member later 'q["question"]')" != "$Q" ] && shows later 4; }
wait_until 30 other || fail "$("$WARDFS" approve)"
[ "$(made later)" = "0 " ] || fail "made: $(made later)"
first=$Q
question later
refused "no question '$first" "$WARDFS" approve "$first.5" yes
expect 0 "$WARDFS" approve "$Q.2" yes
wait_until 30 test -e .github/f2 || fail "the second answer"
wait_until 30 shows later 2 || fail "$(paths later)"
[ "$(made later)" = "0 1 2 " ] || fail "made: $(made later)"
touch stop
end 1 later
verified later

echo "--- audit denials: a path that the answer was not about has none"
fresh
begin denied sh -c 'mkdir .github/f1; mkdir .github/f2; until [ -e stop ]; do sleep 0.1; done'
wait_until 30 shows denied 2 || fail "$(paths denied)"
question denied
expect 0 "$WARDFS" approve "$Q" yes
touch stop
end 0 denied
"$WARDFS" audit denials --json denied | python3 -c '
import json, sys
d = {r["path"][-1]: r["question"]["result"] for r in json.load(sys.stdin) if r["question"]}
assert d == {"1": "granted", "2": "ended"}, d' || fail "$("$WARDFS" audit denials denied)"

echo "--- no: none of those that were shown is asked about again"
fresh
# shellcheck disable=SC2046
begin no python3 joined.py $(files .github 5)
wait_until 30 shows no 5 || fail "$(paths no)"
question no
expect 0 "$WARDFS" approve "$Q.5" no
rm -f tried
wait_until 30 test -e tried
rm -f tried
wait_until 30 test -e tried
shows no '' || fail "asked again: $("$WARDFS" approve)"
touch stop
end 1 no
[ -z "$(made no)" ] || fail "made: $(made no)"
[ "$(asks no)" = "1 5" ] || fail "$(asks no)"
verified no

echo "--- a pattern covers each path that was shown, or is refused"
fresh
begin pattern python3 joined.py .github/fa.c .github/fb.c .github/fc.h
wait_until 30 shows pattern 3 || fail "$(paths pattern)"
question pattern
refused "the pattern '/workspace/.github/*.c' does not cover /workspace/.github/fc.h" "$WARDFS" approve "$Q.3" pattern '/workspace/.github/*.c'
expect 0 "$WARDFS" approve "$Q.2" pattern '/workspace/.github/*.c'
wait_until 30 test -e .github/fb.c || fail "the pattern"
wait_until 30 shows pattern 1 || fail "$("$WARDFS" approve)"
[ ! -e .github/fc.h ] || fail "the pattern gave more"
touch stop
end 1 pattern
verified pattern

echo "--- what does not join: another directory, other rights, another rule, a name that is not plain, two paths"
fresh
mkdir -p .github/fsub
echo 1 >.github/fold
begin apart sh -c 'mkdir .github/f1; mkdir .github/fsub/f1; mkdir other/f1; chmod 600 .github/fold; mkdir ".github/f 2"; ln .github/fold .github/f3
	until [ -e stop ]; do sleep 0.1; done'
wait_until 30 shows apart '1 1 1 1 1 1' || fail "$("$WARDFS" approve)"
touch stop
end 0 apart
verified apart

echo "--- a pattern ends the questions that it answers, those about two paths too. The control is one that it does not cover"
fresh
for i in a b c; do echo 1 >.github/f$i; done
mkdir -p .github/fsub
begin moves sh -c 'for i in a b; do mv .github/f$i .github/fsub/f$i; done; mv .github/fc other/fc; until [ -e stop ]; do sleep 0.1; done'
wait_until 30 shows moves '2 1' || fail "$("$WARDFS" approve)"
question moves
[ "$(member moves 'q["path2"]')" = /workspace/.github/fsub/fa ] || fail "$(member moves q)"
expect 0 "$WARDFS" approve "$Q" pattern '/workspace/.github/**'
shows moves 1 || fail "$("$WARDFS" approve)"
[ "$(member moves 'q["path"]')" = /workspace/.github/fc ] || fail "$(member moves q)"
touch stop
end 0 moves
verified moves

echo "--- attack: directories whose names have the same sum, whatever random number begins it"
fresh
cp "$WARD_SRC/tests/cases/run/lib/joined-sums.py" .
begin sums python3 joined-sums.py
end 0 sums
"$WARDFS" audit show --json --kind ask sums | python3 "$WARD_SRC/tests/cases/run/lib/joined-apart.py" ||
	fail "another directory joined"
verified sums
rm -r src/*

echo "--- two processes wait for one answer, and each goes on"
fresh
echo 1 >.github/fa
echo 1 >.github/fb
begin wait sh -c 'echo 2 >>.github/fa & echo 2 >>.github/fb & wait'
wait_until 30 shows wait 2 || fail "$("$WARDFS" approve)"
question wait
expect 0 "$WARDFS" approve "$Q"
has "$OUT" ' by sh ('
expect 0 "$WARDFS" approve "$Q.2" once
end 0 wait
[ "$(cat .github/fa .github/fb | tr '\n' ' ')" = "1 2 1 2 " ] || fail "$(cat .github/fa .github/fb)"
verified wait

echo "--- attack: another file has a path that joined. The control is the file that stayed"
for i in a b; do echo 1 >.github/f$i; done
begin swap sh -c 'a() { until chmod 600 .github/f$1 2>/dev/null; do [ ! -e stop ] || exit 0; sleep 0.1; done; echo did $1; }; a a & a b & wait'
wait_until 30 shows swap 2 || fail "$("$WARDFS" approve)"
question swap
expect 0 "$WARDFS" approve "$Q"
before=$Q
echo other >other.new
stays=$(echo "$OUT" | sed -n '1s/.*github.f\(.\).*/\1/p')
swapped=$([ "$stays" = a ] && echo b || echo a)
mv other.new ".github/f$swapped"
expect 0 "$WARDFS" approve "$before.2" yes
wait_until 30 grep -qx "did $stays" ../swap.out || fail "control: $(cat ../swap.out)"
again() { [ "$(member swap 'q["path"]')" = "/workspace/.github/f$swapped" ]; }
wait_until 30 again || fail "the other file is not asked about: $("$WARDFS" approve)"
if grep -q "did $swapped" ../swap.out; then fail "the other file was changed"; fi
touch stop
end 0 swap
verified swap

echo "--- signed answers: for the paths that were shown to who signed"
fresh
"$WARDFS" token key ../key >../key.pub
printf '[approvals]\napprovers = 1\napprover = %s\n' "$(cat ../key.pub)" >>../ask.policy
# shellcheck disable=SC2046
begin signed python3 joined.py $(files .github 5)
wait_until 30 shows signed 5 || fail "$(paths signed)"
question signed
for n in 2 5; do
	"$WARDFS" approve --json "$Q.$n" >../q.json
	expect 0 "$WARDFS" approve sign ../q.json --key ../key path -o ../signed.$n
	has "$OUT" /workspace/.github/f1
done
sed 's/f1"/f9"/' ../q.json >../q9.json
refused 'it was changed on its way' "$WARDFS" approve sign ../q9.json --key ../key path -o ../signed.9
expect 0 "$WARDFS" approve "$Q" --signed ../signed.2
wait_until 30 test -e .github/f1 || fail "$(cat ../signed.out)"
wait_until 30 shows signed 3 || fail "$(paths signed)"
[ "$(made signed)" = "0 1 " ] || fail "made: $(made signed)"
refused 'no question' "$WARDFS" approve "$Q" --signed ../signed.5
question signed
refused 'is to another question' "$WARDFS" approve "$Q" --signed ../signed.5
"$WARDFS" approve --json "$Q" >../q.json
expect 0 "$WARDFS" approve sign ../q.json --key ../key once -o ../signed.rest
expect 0 "$WARDFS" approve "$Q" --signed ../signed.rest
end 0 signed
verified signed
