#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A rule `ask`: where a question waits, and what happens without an answer, with a no, with a
# signal and with a dead supervisor. The control is the same policy without `ask`.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
page=$WARD_SRC/docs/approvals.md

echo "--- the page's example"
project "$HOME/page"
cd "$HOME/page"
mkdir .github
awk '/^```ini$/ && !n++ { on = 1; next } /^```$/ { on = 0 } on' "$page" >approve.policy
command='wardfs run --session release --policy approve.policy -- sh -c '"'"'echo "on: push" >>.github/ci.yml'"'"
grep -qxF "\$ $command" "$page" || fail "the page has another command"
: >.github/ci.yml
PATH=$WARD_BUILD:$PATH sh -c "$command" &
run=$!
wait_until 60 member release 'q["question"]' || fail "no question"
Q=$(member release 'q["question"]')
expect 0 "$WARDFS" approve
sed -n '/^k7m2xq  open/,/it waits/p' "$page" | sed "s/k7m2xq/$Q/g; s/([0-9]*) in/(N) in/; s/another [0-9]* s/another N s/; s/(approve/(…approve/" >../want
echo "$OUT" | sed "s/([0-9]*) in/(N) in/; s/another [0-9]* s/another N s/; s/(.*approve.policy/(…approve.policy/" >../have
diff ../want ../have >&2 || fail "the page shows something else"
expect 0 "$WARDFS" approve "$Q" once
has "$ERR" "wardfs: $Q: granted, grant g"
wait $run || fail "the command failed"
[ "$(cat .github/ci.yml)" = "on: push" ] || fail "not written"
"$WARDFS" audit show --kind ask release | grep -q "ask = .github" || fail "no question in the trail"
"$WARDFS" audit show --kind answer release | grep -q granted || fail "no answer in the trail"
cd "$WARD_TMP"

asking_project '[approvals]' 'timeout = 600s'

echo "--- control: without the rule nothing is asked, and nothing waits"
grep -v '^ask' ../ask.policy >../write.policy
expect 0 "$WARDFS" run --policy ../write.policy -- sh -c 'echo x >>.github/workflows/ci'

echo "--- an open of what exists waits, and is shown"
begin waits sh -c 'echo two >>.github/workflows/ci'
question waits
[ "$(member waits 'q["waits"], q["path"], q["action"], q["rule_text"]')" = \
	"(True, '/workspace/.github/workflows/ci', 'open', 'ask = .github')" ] || fail "$(member waits q)"
[ "$(member waits '"append" in q["rights"] or "write" in q["rights"]')" = True ] || fail "$(member waits q)"
[ "$(member waits 'q["argv"][0], q["program"], q["rule"].endswith("ask.policy:5")')" = "('sh', 'sh', True)" ] ||
	fail "$(member waits q)"
expect 0 "$WARDFS" approve
has "$OUT" "$Q  open /workspace/.github/workflows/ci"
expect 0 "$WARDFS" approve "$Q"
has "$OUT" 'yes widens: 1 file there now, 1 gains '
has "$OUT" ': /workspace/.github/workflows/ci'
has "$OUT" "ask = .github ("
has "$OUT" "wardfs approve $Q yes|once|no"

echo "--- an answer that is none, to no question, to another digest"
refused "no question 'zzzzzz' waits" "$WARDFS" approve zzzzzz no
refused "answer no, once, path" "$WARDFS" approve "$Q" perhaps
[ "$(member waits 'q["question"]')" = "$Q" ] || fail "the question is gone"

echo "--- no: it is refused, and not asked again"
expect 0 "$WARDFS" approve "$Q" no
end 2 waits
grep -q 'Permission denied' ../waits.err || fail "$(cat ../waits.err)"
[ "$(cat .github/workflows/ci)" = "one
x" ] || fail "changed"
refused "no question '$Q' waits" "$WARDFS" approve "$Q" no

echo "--- the trail has the question as it was shown, and who answered"
"$WARDFS" audit show --json --kind ask waits >../asks
"$WARDFS" audit show --json --kind answer waits >../answers
python3 "$WARD_SRC/tests/cases/run/lib/approve-records.py" ../asks ../answers "$Q" refused
"$WARDFS" audit show --json --kind deny waits | grep -q "\"request\":\"$Q\"" || fail "the refusal does not name the question"
expect 0 "$WARDFS" audit verify waits

echo "--- a signal ends the wait of its process, and not the question"
begin signal python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/approve-signal.py")"
question signal
touch go
end 7 signal
rm go

echo "--- what holds a lock of the kernel is refused at once, and is a question all the same"
begin at-once sh -c 'mkdir .github/new || echo refused; while [ ! -e go ]; do sleep 0.1; done'
question at-once
[ "$(member at-once 'q["waits"], q["action"], q["path"]')" = "(False, 'mkdir', '/workspace/.github/new')" ] ||
	fail "$(member at-once q)"
wait_until 60 grep -qx refused ../at-once.out || fail "it waits: $(cat ../at-once.err)"
touch go
end 0 at-once
rm go

echo "--- two of one process wait, the others are refused; one question for all"
begin pool python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/approve-pool.py")"
question pool
wait_until 60 grep -q 'four are refused' ../pool.out || fail "$(cat ../pool.out ../pool.err)"
[ "$("$WARDFS" approve --json --session pool | grep -c '"question"')" -eq 1 ] || fail "more than one"
expect 0 "$WARDFS" approve "$Q" no
end 0 pool

echo "--- nobody answers: refused at its time, and said in the trail"
sed -i 's/timeout = 600s/timeout = 1s/' ../ask.policy
begin late sh -c 'echo x >>.github/workflows/ci'
end 2 late
"$WARDFS" audit show --json --kind answer late | grep -q '"result":"expired"' || fail "no record: $("$WARDFS" audit show late)"
sed -i 's/timeout = 1s/timeout = 600s/' ../ask.policy


echo "--- in a mode without walls nobody is asked, and nothing waits"
for mode in none process; do
	if "$WARDFS" run --mode $mode --session "walls-$mode" --policy ../ask.policy -- \
		sh -c 'cat /proc/self/status >/dev/null; echo x >>/workspace/.github/workflows/ci' 2>../walls.err; then
		fail "mode $mode allows what is asked about"
	fi
	grep -q "^wardfs: in mode $mode nobody is asked, because the command could answer itself: " ../walls.err ||
		fail "it does not say why: $(cat ../walls.err)"
	if "$WARDFS" audit show --json --kind ask "walls-$mode" 2>/dev/null | grep -q .; then
		fail "mode $mode asks"
	fi
done

echo "--- while a request waits, the clock of idle stands still; the control waits for nothing"
{
	cat ../ask.policy
	printf '[limits]\nidle = 2s\n'
} >../idle.policy
if "$WARDFS" run --session idles --policy ../idle.policy -- sleep 60 2>../idles.err; then fail "control: it was not ended"; fi
cp .github/workflows/ci ../ci
"$WARDFS" run --session waiting --policy ../idle.policy -- sh -c 'echo waited >>.github/workflows/ci' 2>../waiting.err &
RUN=$!
question waiting
sleep 5
expect 0 "$WARDFS" approve "$Q" once
wait "$RUN" || fail "it was ended while it waited: $(cat ../waiting.err)"
[ "$(tail -n 1 .github/workflows/ci)" = waited ] || fail "$(cat .github/workflows/ci)"
cp ../ci .github/workflows/ci

echo "--- SIGKILL of the supervisor while questions wait: refused, recorded, nothing hangs"
# killed NAME: the supervisor of that session dies, and then all of it.
killed() {
	first=$(status_of "$1" init_pid)
	kill -9 "$(status_of "$1" pid)"
	wait "$RUN" 2>/dev/null || :
	wait_until 60 gone "$first" || fail "the sandbox goes on"
	hasnt "$(cat "../$1.out")" written
	[ "$(tail -n 1 .github/workflows/ci)" = x ] || fail "$(cat .github/workflows/ci)"
}
# unanswered NAME N: both verifiers see that each of its questions has an end, and that nobody gave
# N of them.
unanswered() {
	"$WARDFS" audit show --json --kind ask "$1" >../asks
	"$WARDFS" audit show --json --kind answer "$1" >../answers
	python3 "$WARD_SRC/tests/cases/run/lib/approve-unanswered.py" ../asks ../answers "$2" || fail "$(cat ../asks ../answers)"
	if OUT=$("$WARDFS" audit verify "$1" 2>&1); then fail "intact: $OUT"; fi
	has "$OUT" "incomplete: the supervisor died"
	hasnt "$OUT" edited
	if python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" "$1" >../theirs; then
		fail "the second verifier: intact"
	fi
	grep -q incomplete ../theirs || fail "the second verifier: $(cat ../theirs)"
	expect 0 "$WARDFS" audit approvals "$1"
	has "$OUT" "ended  "
	hasnt "$OUT" "granted"
}
begin dead sh -c 'echo x >>.github/workflows/ci && echo written'
question dead
killed dead
"$WARDFS" audit show --json --kind ask dead | grep -q "\"request\":\"$Q\"" || fail "the question is not in the trail"
unanswered dead 1

echo "--- the same with four of them, one of which two paths joined; one has its answer before"
for i in 1 2 3; do echo 1 >.github/f$i; done
begin deads sh -c 'for i in 1 2 3; do chmod 600 .github/f$i; done; mkdir .github/new; mv .github/f1 .github/f4
	echo x >>.github/f1 & echo x >>.github/workflows/ci && echo written'
four() { "$WARDFS" approve --json --session deads | python3 -c 'import json, sys
q = json.load(sys.stdin)
sys.exit(not (len(q) == 5 and any(len(one.get("more", [])) == 2 for one in q)))'; }
wait_until 60 four || fail "$("$WARDFS" approve)"
Q=$("$WARDFS" approve --json --session deads | python3 -c 'import json, sys
print(next(q["question"] for q in json.load(sys.stdin) if q["action"] == "mkdir"))')
expect 0 "$WARDFS" approve "$Q" no
killed deads
unanswered deads 4

echo "--- the writer is killed too: the next start of wardfs reads the questions in the trail, and ends them"
begin both sh -c 'mkdir .github/new; mkdir .github/newer; until [ -e go ]; do sleep 0.1; done; echo x >>.github/workflows/ci && echo written'
two() { "$WARDFS" approve --json --session both | python3 -c 'import json, sys
sys.exit(sum(1 + len(q.get("more", [])) for q in json.load(sys.stdin)) != 2)'; }
wait_until 60 two || fail "$("$WARDFS" approve)"
writer=$(python3 "$WARD_SRC/tests/cases/run/lib/approve-helper.py" "$RUN" wardfs-audit)
kill -STOP "$writer"
kill -9 "$(status_of both pid)" "$writer"
wait "$RUN" 2>/dev/null || :
expect 0 "$WARDFS" run --policy ../ask.policy -- true
"$WARDFS" audit show --json --kind ask both >../asks
"$WARDFS" audit show --json --kind answer both >../answers
python3 "$WARD_SRC/tests/cases/run/lib/approve-unanswered.py" ../asks ../answers 1 || fail "$(cat ../asks ../answers)"
if OUT=$("$WARDFS" audit verify both 2>&1); then fail "intact: $OUT"; fi
has "$OUT" incomplete
hasnt "$OUT" edited
