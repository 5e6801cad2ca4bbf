#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attacks on answers and on who has to give them: answers that race by every way, a reload while
# several questions wait, and a flood of questions. Each has its control.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
lib=$WARD_SRC/tests/cases/run/lib
asking_project '[approvals]' 'timeout = 300s'
cp "$lib/attack-room.py" "$lib/attack-flood.py" .
paths() {
	"$WARDFS" approve --json --session "$1" |
		python3 -c 'import json, sys; print(*[1 + len(q.get("more", [])) for q in json.load(sys.stdin)])'
}
shows() { [ "$(paths "$1")" = "$2" ]; }
verified() {
	expect 0 "$WARDFS" audit verify "$1"
	python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" "$1" >../theirs ||
		fail "the second verifier: $(cat ../theirs)"
}
# one_answer NAME: the question of the session has one answer. Prints its result.
one_answer() {
	"$WARDFS" audit show --json --kind answer "$1" >../answers
	[ "$(wc -l <../answers)" -eq 1 ] || fail "$(cat ../answers)"
	sed 's/.*"result":"\([a-z]*\)".*/\1/' ../answers
}

echo "--- yes and no at once, from many processes: one of them counts, and what it says is done"
for round in 1 2 3 4; do
	echo one >.github/workflows/ci
	begin "race-$round" sh -c 'echo two >>.github/workflows/ci'
	question "race-$round"
	python3 "$lib/attack-race.py" "$XDG_RUNTIME_DIR/wardfs/race-$round/control" "$Q" "$(member "race-$round" 'q["digest"]')" >../race ||
		fail "$(cat ../race)"
	said=$(cat ../race)
	wait "$RUN" || :
	[ "$(one_answer "race-$round")" = "$said" ] || fail "told $said: $(cat ../answers)"
	lines=$(wc -l <.github/workflows/ci)
	[ "$said" = granted ] && want=2 || want=1
	[ "$lines" -eq "$want" ] || fail "$said, and $lines lines"
	verified "race-$round"
done

echo "--- the panel of the run, approve, the program of the policy and a signed answer, all at once"
"$WARDFS" token key ../key >../key.pub
hooks=$WARD_TMP/hooks
mkdir -p "$hooks"
chmod 755 "$WARD_TMP" "$hooks"
cat >"$hooks/hook" <<H
#!/usr/bin/python3
import json, os, sys, time
q = json.load(sys.stdin)
while not os.path.exists("$hooks/go"):
    time.sleep(0.001)
json.dump({"question": q["question"], "digest": q["digest"], "answer": "once"}, sys.stdout)
H
chmod 755 "$hooks/hook"
{
	cat ../ask.policy
	printf 'command = %s\napprover = %s\n' "$hooks/hook" "$(cat ../key.pub)"
} >../all.policy
for round in 1 2 3; do
	rm -f "$hooks/go"
	echo one >.github/workflows/ci
	python3 "$lib/attack-ways.py" "all-$round" "$hooks/go" $round >../ways 2>&1 || fail "$(cat ../ways)"
	result=$(one_answer "all-$round")
	lines=$(wc -l <.github/workflows/ci)
	[ "$result" = granted ] && want=2 || want=1
	[ "$lines" -eq "$want" ] || fail "$result, and $lines lines: $(cat ../answers ../ways)"
	verified "all-$round"
	cat ../ways
done

echo "--- a reload while several questions wait: they wait on, and are decided by the new policy"
echo one >.github/workflows/ci
echo one >.github/second
begin reload sh -c 'echo two >>.github/workflows/ci & echo two >>.github/second & mkdir .github/new; wait'
wait_until 30 shows reload '1 1 1' || fail "$("$WARDFS" approve)"
cp ../ask.policy ../same.policy
expect 0 "$WARDFS" policy reload reload ../same.policy
shows reload '1 1 1' || fail "a reload of the same ended questions: $("$WARDFS" approve)"
{
	cat ../ask.policy
	printf '[guard]\ndeny = /workspace/.github/second\n'
} >../deny.policy
expect 0 "$WARDFS" policy reload reload ../deny.policy
Q=$("$WARDFS" approve --json --session reload | python3 -c 'import json, sys
print(*[q["question"] for q in json.load(sys.stdin) if q["path"].endswith("second")])')
[ -n "$Q" ] || fail "control: no question about it: $("$WARDFS" approve)"
refused "no grant lifts '[guard] deny = /workspace/.github/second'" "$WARDFS" approve "$Q" yes
expect 0 "$WARDFS" approve "$Q" no
Q=$("$WARDFS" approve --json --session reload | python3 -c 'import json, sys
print(*[q["question"] for q in json.load(sys.stdin) if q["path"].endswith("ci")])')
expect 0 "$WARDFS" approve "$Q" yes
end 0 reload
[ "$(tail -n 1 .github/workflows/ci)" = two ] || fail "control: $(cat .github/workflows/ci)"
[ "$(cat .github/second)" = one ] || fail "the answer lifted a rule that came later: $(cat .github/second)"
verified reload

echo "--- a flood of questions holds up no other request, and asks a person no more than three times in 30 seconds"
rm -rf .github/f* && mkdir -p src
echo content >src/plain
begin quiet python3 attack-flood.py 0
end 0 quiet
quiet=$(sed -n 's/^opens //p' ../quiet.out)
begin flood python3 attack-flood.py 3000
wait_until 120 grep -q '^asked ' ../flood.out || fail "$(cat ../flood.out ../flood.err)"
wait_until 120 grep -q '^opens ' ../flood.out || fail "unrelated opens do not go on: $(cat ../flood.out)"
# One of them can be answered meanwhile, and acts.
Q=$("$WARDFS" approve --json --session flood 2>/dev/null | python3 -c 'import json, sys
print(next(q["question"] for q in json.load(sys.stdin) if q["action"] == "mkdir"))')
expect 0 "$WARDFS" approve "$Q" yes
wait_until 120 grep -q '^made ' ../flood.out || fail "the answer had no effect: $(cat ../flood.out)"
touch stop
end 0 flood
rm stop
echo "median of an unrelated open: $quiet us alone, $(sed -n 's/^opens //p' ../flood.out) us in the flood"
[ "$(grep -c 'Answer: wardfs approve' ../flood.err)" -le 6 ] || fail "$(grep -c 'Answer: wardfs approve' ../flood.err) lines"
verified flood

echo "--- no room for all grants of an answer: it gives none, and the question waits on"
rm -rf .github/[0-9]*
for i in 0 1 2 3 4 5 6 7 8 9; do mkdir .github/$i; done
begin room python3 attack-room.py
wait_until 60 shows room '8 8 8 8 8 8 8 8 8 8' || fail "$(paths room)"
"$WARDFS" approve --json --session room >../all.json
fs=$(python3 "$lib/approve-helper.py" "$RUN" wardfs-fs)
# While wardfs-fs stands still, more grants are handed to it than there is room for.
kill -STOP "$fs"
python3 "$lib/attack-all.py" "$XDG_RUNTIME_DIR/wardfs/room/control" "$fs" <../all.json >../all || fail "$(cat ../all)"
touch go
end 0 room
# Each answer that counts is for all its paths, and each other one for none.
sed -n 's/^made //p' ../room.out | sort >../made
sort ../all | diff - ../made >&2 || fail "not all or nothing"
grep -q ' 8$' ../made && grep -q ' 0$' ../made || fail "control: $(cat ../made)"
"$WARDFS" audit show --json --kind revoke room | grep -q 'another grant of the same answer failed' || fail "no record"
verified room
