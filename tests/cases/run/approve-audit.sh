#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit approvals: who allowed what, for how long, having seen what, and what used it; the
# same in the report and in a bundle, where a changed copy is found.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project '[approvals]' 'timeout = 600s'
mkdir docs
echo a >docs/a
echo 'deny = docs' >../deny
sed '/^ask = /r ../deny' ../ask.policy >../with
mv ../with ../ask.policy

begin one sh -c 'echo two >>.github/workflows/ci; cat docs/a || :; cat .github/new || :; echo 3 >>src/late'
question one
expect 0 "$WARDFS" grant one read '/workspace/docs/**' --for 10m --reason "look at the manual"
expect 0 "$WARDFS" approve "$Q" once
end 0 one
begin two sh -c 'echo two >>.github/workflows/ci'
question two
expect 0 "$WARDFS" approve "$Q" no
end 2 two
"$WARDFS" run --session none --policy ../ask.policy -- true

echo "--- for people"
expect 0 "$WARDFS" audit approvals one
has "$OUT" "granted  write /workspace/.github/workflows/ci"
has "$OUT" "who:     uid $(id -u)"
has "$OUT" "by approve"
has "$OUT" "asked:   sh ("
has "$OUT" "rule ask = .github ("
has "$OUT" "1 use, spent at "
has "$OUT" "reason:  look at the manual"
has "$OUT" "2 questions and grants"

echo "--- for programs"
"$WARDFS" audit approvals --json one >../one.json
python3 "$WARD_SRC/tests/cases/run/lib/approve-audit.py" ../one.json "$(id -u)" || fail "one: $(cat ../one.json)"

echo "--- all sessions, and a time"
expect 0 "$WARDFS" audit approvals
has "$OUT" "3 questions and grants"
has "$ERR" "not verified"
has "$OUT" "refused  write /workspace/.github/workflows/ci"
expect 0 "$WARDFS" audit approvals --until 2020
has "$OUT" "0 questions and grants"
expect 0 "$WARDFS" audit approvals --since 2020 two
has "$OUT" "1 question and grant"
expect 0 "$WARDFS" audit approvals none
has "$OUT" "0 questions and grants"

echo "--- in the report"
for format in md html json; do
	"$WARDFS" audit report one --format $format >../report.$format
done
grep -q 'Who allowed what' ../report.html && grep -q 'look at the manual' ../report.html || fail "html"
grep -q 'granted `write /workspace/.github/workflows/ci` by `uid' ../report.md || fail "md: $(cat ../report.md)"
python3 -c 'import json; assert len(json.load(open("../report.json"))["approved"]) == 2' || fail "json"
"$WARDFS" audit report none --format md | grep -q 'Who allowed what' && fail "control: none"

echo "--- in a bundle: as the trail has it"
"$WARDFS" audit bundle one -o ../one.tar
"$WARDFS" audit key show --session one >../keys 2>/dev/null || "$WARDFS" audit key show >../keys
expect 0 "$WARDFS" audit verify --key ../keys ../one.tar
mkdir ../away
tar -C ../away -xf ../one.tar
cmp ../one.json ../away/one/approvals.json || fail "not what --json prints"
sed -i 's/"scope": "once"/"scope": "path"/' ../away/one/approvals.json
cmp -s ../one.json ../away/one/approvals.json && fail "control: nothing to change"
tar --format=ustar -C ../away -cf ../changed.tar one/README one/checkpoints one/trail.jsonl one/public.keys \
	one/policy one/policy.txt one/approvals.json one/attestation.json
expect 1 "$WARDFS" audit verify --key ../keys ../changed.tar
has "$OUT" "the file approvals.json is not what the records have"
"$WARDFS" audit bundle none -o ../none.tar
tar -tf ../none.tar | grep approvals && fail "control: a session without questions"
exit 0
