#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Answers that give something, and how far each goes. Answers that give nothing: from another
# session, replayed, for another object, from inside. Controls come first.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project '[approvals]' 'timeout = 300s'

echo "--- yes: this path, until the session ends, and no other"
begin yes sh -c 'echo a >>.github/workflows/ci && echo b >>.github/workflows/ci && mkdir .github/other'
question yes
expect 0 "$WARDFS" approve "$Q" yes
has "$ERR" "$Q: granted, grant g"
end 1 yes
[ "$(tr '\n' ' ' <.github/workflows/ci)" = "one a b " ] || fail "$(cat .github/workflows/ci)"
[ ! -e .github/other ] || fail "the answer went further than its path"
"$WARDFS" audit show --json --kind ask yes | head -n 1 >../asks
"$WARDFS" audit show --json --kind answer yes | head -n 1 >../answers
python3 "$WARD_SRC/tests/cases/run/lib/approve-records.py" ../asks ../answers "$Q" granted
grant=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["grant"])' <../answers)
"$WARDFS" audit show --json --kind use yes | grep -q "\"grant\":\"$grant\"" || fail "no use of $grant"
expect 0 "$WARDFS" audit verify yes

echo "--- once: the request that waits, and the next one is asked again"
begin once sh -c 'echo c >>.github/workflows/ci; echo d >>.github/workflows/ci'
question once
first=$Q
expect 0 "$WARDFS" approve "$Q" once
another() { Q=$(member once 'q["question"]') && [ "$Q" != "$first" ]; }
wait_until 60 another || fail "the second open is not asked"
refused "no question '$first' waits" "$WARDFS" approve "$first" yes
expect 0 "$WARDFS" approve "$Q" no
end 2 once
[ "$(tail -n 1 .github/workflows/ci)" = c ] || fail "$(cat .github/workflows/ci)"

echo "--- what was refused at once succeeds when it is tried again; a pattern answers more"
begin pattern sh -c 'until mkdir .github/a; do sleep 0.1; done; mkdir .github/b && echo e >.github/b/f'
question pattern
[ "$(member pattern 'q["action"]')" = mkdir ] || fail "$(member pattern q)"
# A pattern that leaves out what was asked would widen something else.
expect 1 "$WARDFS" approve "$Q" pattern '/workspace/other/**'
has "$ERR" "the pattern '/workspace/other/**' does not cover /workspace/.github/a"
expect 0 "$WARDFS" approve "$Q" pattern '/workspace/.github/**'
# The answer gives what was asked for: names may come, and files may not be written.
end 2 pattern
[ -d .github/b ] || fail "the pattern does not cover b"
[ ! -e .github/b/f ] || fail "a right that was not asked for"

echo "--- two grants give what one operation needs: the trail says which gave what"
echo old >.github/moved
begin pair sh -c 'again() { until sh -c "$1" 2>/dev/null; do sleep 0.2; done; }
again "echo x >.github/new"; again "mv -f .github/new .github/moved"'
question pair
first=$Q
expect 0 "$WARDFS" approve "$Q" pattern '/workspace/.github/**'
second() { Q=$(member pair 'q["question"]') && [ "$Q" != "$first" ]; }
wait_until 60 second || fail "nothing is asked about the move: $(cat ../pair.err)"
expect 0 "$WARDFS" approve "$Q" pattern '/workspace/.github/**'
end 0 pair
[ "$(cat .github/moved)" = x ] || fail "it was not moved"
rm .github/moved
expect 0 "$WARDFS" audit verify pair

echo "--- for a time; a word that is no time"
begin for sh -c 'echo f >>.github/workflows/ci'
question for
refused "needs a time" "$WARDFS" approve "$Q" for
refused "needs a time" "$WARDFS" approve "$Q" for ever
expect 0 "$WARDFS" approve "$Q" for 10m
end 0 for

echo "--- two answers race: the first one counts, the other is told"
begin race sh -c 'echo g >>.github/workflows/ci'
question race
"$WARDFS" approve "$Q" no 2>../race.1 &
one=$!
"$WARDFS" approve "$Q" yes 2>../race.2 &
two=$!
won=0
if wait $one; then won=$((won + 1)); fi
if wait $two; then won=$((won + 1)); fi
[ $won -eq 1 ] || fail "$won answers counted: $(cat ../race.1 ../race.2)"
wait "$RUN" || :
[ "$("$WARDFS" audit show --json --kind answer race | wc -l)" -eq 1 ] || fail "not one answer"

echo "--- an answer to another session's question, or to what was shown otherwise, gives nothing"
begin mine sh -c 'echo h >>.github/workflows/ci'
question mine
digest=$(member mine 'q["digest"]')
python3 "$WARD_SRC/tests/cases/run/lib/approve-send.py" "$XDG_RUNTIME_DIR/wardfs/mine/control" "$Q" \
	"$(printf %064d 0)" path >../sent
grep -q "shown otherwise" ../sent || fail "$(cat ../sent)"
begin_run=$RUN
begin other sh -c 'echo i >>.github/workflows/ci'
question other
python3 "$WARD_SRC/tests/cases/run/lib/approve-send.py" "$XDG_RUNTIME_DIR/wardfs/mine/control" "$Q" \
	"$(member other 'q["digest"]')" path >../sent
grep -q "no such question" ../sent || fail "$(cat ../sent)"
expect 0 "$WARDFS" approve "$Q" no
end 2 other
RUN=$begin_run
Q=$(member mine 'q["question"]')
# The control: the same message with the right digest.
python3 "$WARD_SRC/tests/cases/run/lib/approve-send.py" "$XDG_RUNTIME_DIR/wardfs/mine/control" "$Q" \
	"$digest" path >../sent
grep -q '"granted"' ../sent || fail "$(cat ../sent)"
end 0 mine
[ "$(tail -n 1 .github/workflows/ci)" = h ] || fail "$(cat .github/workflows/ci)"

echo "--- the file is swapped between question and answer: a new question"
begin swap sh -c 'echo j >>.github/workflows/ci'
question swap
first=$Q
echo swapped >../evil
mv ../evil .github/workflows/ci
expect 0 "$WARDFS" approve "$Q" yes
another() { Q=$(member swap 'q["question"]') && [ "$Q" != "$first" ]; }
wait_until 60 another || fail "the swapped file was opened: $(cat .github/workflows/ci)"
[ "$(cat .github/workflows/ci)" = swapped ] || fail "$(cat .github/workflows/ci)"
expect 0 "$WARDFS" approve "$Q" no
end 2 swap

echo "--- its content is swapped: what was shown promised the file, whatever it contains"
begin content python3 -c '
with open(".github/workflows/ci", "r+") as f:
    print(f.read(), end="")'
question content
promise='this file, whatever it contains later'
[ "$(member content 'q["promise"]')" = "$promise" ] || fail "$(member content q)"
expect 0 "$WARDFS" approve "$Q"
has "$OUT" "($promise)"
hasnt "$OUT" swapped
inode=$(stat -c %i .github/workflows/ci)
echo 'other content' >.github/workflows/ci
[ "$(stat -c %i .github/workflows/ci)" = "$inode" ] || fail "another file"
expect 0 "$WARDFS" approve "$Q" once
end 0 content
[ "$(cat ../content.out)" = 'other content' ] || fail "$(cat ../content.out)"
# The promise is among what the digest of the answer covers.
"$WARDFS" audit show --json --kind ask content | grep -q "\"promise\":\"$promise\"" ||
	fail "$("$WARDFS" audit show --json --kind ask content)"
expect 0 "$WARDFS" audit verify content
expect 0 "$WARDFS" audit approvals --json content
has "$OUT" "$promise"

echo "--- the agent reaches neither the control socket nor an answer of its own"
begin inside sh -c 'echo k >>.github/workflows/ci & ls -d /run/wardfs /run/user/*/wardfs 2>&1; wait $!'
question inside
[ "$(status_of inside init_pid)" -gt 0 ] || fail "no pid"
if nsenter --target "$(status_of inside init_pid)" --pid "$WARDFS" approve "$Q" yes 2>../nsenter.err; then
	fail "a process of the session's pid namespace answered"
fi
[ "$(member inside 'q["question"]')" = "$Q" ] || fail "the question is gone"
expect 0 "$WARDFS" approve "$Q" no
end 2 inside
grep -q 'No such file' ../inside.out || fail "$(cat ../inside.out)"

echo "--- always: a line in the owner's file; where that has no effect, nothing is answered"
begin always sh -c 'echo l >>.github/workflows/ci'
question always
refused "runs under a policy of its own (--policy), which 'always' cannot change: answer 'path', and add 'write = /workspace/.github/workflows/ci' behind the line ask = .github (" "$WARDFS" approve "$Q" always
expect 0 "$WARDFS" approve "$Q" no
end 2 always
mkdir conf
echo one >conf/x
expect 0 "$WARDFS" policy add ask /workspace/conf
"$WARDFS" run --session always2 -- sh -c 'echo two >>conf/x' >../always2.out 2>../always2.err &
RUN=$!
question always2
expect 0 "$WARDFS" approve "$Q" always
end 0 always2
expect 0 "$WARDFS" policy show
has "$OUT" "write = /workspace/conf/x"
[ "$(tail -n 1 conf/x)" = two ] || fail "$(cat conf/x)"
