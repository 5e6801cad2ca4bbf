#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A rule `ask`: where a question waits, and what becomes of it without an answer, with a no, with a
# signal and with a dead supervisor. The control is the same policy without `ask`.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project '[approvals]' 'timeout = 20s'

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
has "$OUT" "ask = .github ("
has "$OUT" "wardfs approve $Q yes|once|no"

echo "--- an answer that is none, to no question, to another digest"
refused "no question 'zzzzzz' waits" "$WARDFS" approve zzzzzz no
refused "cannot be understood" "$WARDFS" approve "$Q" perhaps
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
begin signal python3 -c '
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *a: sys.exit(7))
signal.alarm(3)
os.open(".github/workflows/ci", os.O_WRONLY)'
question signal
end 7 signal

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
sed -i 's/timeout = 20s/timeout = 1s/' ../ask.policy
begin late sh -c 'echo x >>.github/workflows/ci'
end 2 late
"$WARDFS" audit show --json --kind answer late | grep -q '"result":"expired"' || fail "no record: $("$WARDFS" audit show late)"
sed -i 's/timeout = 1s/timeout = 600s/' ../ask.policy

