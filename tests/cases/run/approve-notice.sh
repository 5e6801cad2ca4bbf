#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A question is announced: a line on standard error, bounded in number; on a terminal that the
# command has, in the window's title alone. The line at the end and `denials` name what was refused.
# The control is a run that asks nothing.
# timeout: 240
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project '[approvals]' 'timeout = 300s'

echo "--- control: without a question nothing is announced"
begin quiet sh -c 'cat .github/workflows/ci'
end 0 quiet
hasnt "$(cat ../quiet.err)" question

echo "--- one line, behind what the command left open, with the name to answer"
begin line sh -c 'printf "not the line of wardfs: " >&2; echo two >>.github/workflows/ci'
question line
wait_until 60 grep -q "^wardfs: question $Q: sh ([0-9]*) asks for open of /workspace/.github/workflows/ci (.*), and waits. Answer: wardfs approve $Q yes|once|no\$" ../line.err ||
	fail "no line: $(cat ../line.err)"
expect 0 "$WARDFS" approve "$Q" yes
end 0 line
hasnt "$(cat ../line.err)" "no answer"

echo "--- a file on standard output and error alike"
"$WARDFS" run --session both --policy ../ask.policy -- sh -c 'echo out; echo x >>.github/workflows/ci' >../both.log 2>&1 &
RUN=$!
question both
wait_until 60 grep -q "^wardfs: question $Q: " ../both.log || fail "no line: $(cat ../both.log)"
expect 0 "$WARDFS" approve "$Q" no
wait "$RUN" && fail "written"
grep -q '^out$' ../both.log || fail "the command's own line: $(cat ../both.log)"

echo "--- a pipe that nobody reads holds up nothing"
mkfifo ../full
exec 3<>../full
"$WARDFS" run --session full --policy ../ask.policy -- \
	sh -c 'head -c 300000 /dev/zero >&2 & echo x >>.github/workflows/ci; kill $!' 2>../full >../full.out &
RUN=$!
question full
expect 0 "$WARDFS" approve "$Q" once
wait_until 60 sh -c '[ "$(tail -n 1 .github/workflows/ci)" = x ]' || fail "the answer did not act"
cat <&3 >/dev/null &
reader=$!
wait "$RUN" || :
kill $reader
exec 3>&-

echo "--- a flood is bounded, and the rest is counted"
begin flood sh -c 'for i in 1 2 3 4 5 6 7 8 9; do mkdir ".github/d$i:" 2>/dev/null; done; until [ -e go ]; do sleep 0.1; done'
question flood
many() { [ "$("$WARDFS" approve --json --session flood | grep -c '"question"')" -eq 9 ]; }
wait_until 60 many || fail "not nine questions"
[ "$(grep -c 'wardfs: question ' ../flood.err)" -le 3 ] || fail "$(cat ../flood.err)"
grep -q 'mkdir of /workspace/.github/d1: (.*), and was refused for now' ../flood.err || fail "$(cat ../flood.err)"
wait_until 60 grep -q '^wardfs: 9 questions wait for an answer. List them: wardfs approve$' ../flood.err ||
	fail "the rest: $(cat ../flood.err)"
expect 0 "$WARDFS" audit denials flood
has "$OUT" "it waits: wardfs approve"
Q=$(member flood 'q["question"]')
expect 0 "$WARDFS" approve "$Q" no
touch go
end 0 flood
rm go
grep -q "1 question was refused ($Q mkdir /workspace/.github/d1:), 8 questions had no answer (.*; …); what allows each: wardfs audit denials flood" \
	../flood.err || fail "the end: $(cat ../flood.err)"
expect 0 "$WARDFS" audit denials flood
has "$OUT" "question:  $Q, refused by uid $(id -u) (wardfs approve)"
has "$OUT" "nobody answered"
"$WARDFS" audit denials --json flood | python3 -c '
import json, sys
d = [x["question"] for x in json.load(sys.stdin) if x["verdict"] == "ask"]
assert len(d) == 9 and sum(q["result"] == "refused" for q in d) == 1, d
assert all(q["result"] in ("refused", "ended") and len(q["name"]) == 6 for q in d), d'

echo "--- policy explain and user.wardfs.why tell of the question, and of the grant that answers it"
begin told sh -c 'f=.github/workflows/ci; why() { getfattr --only-values -n user.wardfs.why $f; }
	why; echo x >>$f; why; until [ -e go ]; do sleep 0.1; done'
question told
expect 1 "$WARDFS" policy explain --policy ../ask.policy write .github/workflows/ci
has "$OUT" "write /workspace/.github/workflows/ci: ask (EACCES)"
has "$OUT" "to permit it: a session asks a person, who answers with 'wardfs approve'; without a question: 'write = /workspace/.github/workflows/ci' at the end of [files]"
has "$OUT" "asked   session told asks for open just now: wardfs approve $Q"
expect 0 "$WARDFS" approve "$Q" for 1h
wait_until 60 grep -q '  grant   g[0-9a-f]* gives .*write.* for another 35[0-9]* s$' ../told.out || fail "why: $(cat ../told.out)"
[ "$(grep -c "to permit write: a session asks a person" ../told.out)" -eq 2 ] || fail "why: $(cat ../told.out)"
[ "$(grep -c '  grant ' ../told.out)" -eq 1 ] || fail "a grant before the answer: $(cat ../told.out)"
hasnt "$(cat ../told.out)" "$Q"
expect 1 "$WARDFS" policy explain --policy ../ask.policy write .github/workflows/ci
has "$OUT" "grant   in session told, g"
expect 1 "$WARDFS" policy explain --policy ../ask.policy write .github/other
hasnt "$OUT" "grant "
expect 1 "$WARDFS" policy explain --json --policy ../ask.policy write .github/workflows/ci
echo "$OUT" | python3 -c 'import json, sys
r = json.load(sys.stdin)["running"]
assert len(r) == 1 and r[0]["session"] == "told" and 0 < r[0]["left_s"] <= 3600 and r[0]["uses"] is None, r'
touch go
end 0 told
rm go

echo "--- on a terminal: the title and the bell, and no line among what the command shows"
exec python3 "$WARD_SRC/tests/cases/run/lib/approve-terminal.py"
