#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The writer chains and signs the records of questions and answers (`ask`, `grant`). Every reader
# of a trail handles them: show, filters, index, exports, report, verify.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session asked --events 11 --asked
run --session plain --events 11

audit verify asked >verdict && fail "a grant from another ring is no gap: $(cat verdict)"
grep -q '^asked: gap: 1 record tells of a gap' verdict || fail "$(cat verdict)"
audit show --kind gap asked 2>err | grep -q 'a record of kind grant came from ring 1: left out' || fail "who may answer"
agree "questions"
vkey=$(audit key show)
agree_public "questions" "$vkey" asked
sed 's/"result":"refused"/"result":"granted"/' state/sessions/asked/trail.jsonl >changed
cmp -s changed state/sessions/asked/trail.jsonl && fail "control: there is nothing to forge"
cp state/sessions/asked/trail.jsonl kept
cp changed state/sessions/asked/trail.jsonl
audit verify asked | grep -q '^asked: edited' || fail "a forged answer"
agree "a forged answer"
cp kept state/sessions/asked/trail.jsonl

# Shown in words, and found by every filter that can mean them: with and without an index.
audit show --kind grant asked >out 2>err || fail "show"
grep -q 'grant .*open /workspace/.github/ci.yml  read,write.*result granted.*by uid 1001.*request q1.*scope session.*until 2030-01-01T00:00:00' out ||
	fail "show: $(cat out)"
grep -q 'grant .*connect.*result refused.*request q2.*host upload.example.org.*port 443' out || fail "show: $(cat out)"
# asked N FILTER...
asked() {
	n=$1
	shift
	for how in --no-index ""; do
		# shellcheck disable=SC2086
		[ "$(audit show --json $how "$@" asked 2>err | wc -l)" -eq "$n" ] ||
			fail "show $how $*: $(audit show $how "$@" asked), not $n"
	done
}
audit index >/dev/null || fail "index"
asked 3 --kind ask
asked 3 --kind grant
asked 3 --verdict ask
asked 4 --path /workspace/.github
asked 2 --path '*ci.yml'
asked 1 --kind grant --path /workspace/.github/ci.yml
asked 3 --rule some.policy:9
asked 3 --pid 700
asked 3 --comm wardfs
[ "$(audit file --json /workspace/.github/ci.yml asked 2>err | wc -l)" -eq 2 ] || fail "file"
audit sql "SELECT kind, count(*) FROM records WHERE kind IN ('ask', 'grant') GROUP BY kind" >out || fail "sql"
grep -qx 'ask	3' out && grep -qx 'grant	3' out || fail "sql: $(cat out)"
audit summary --json asked 2>err | python3 -c 'import json, sys
s = json.load(sys.stdin)
assert s["kinds"]["ask"] == s["kinds"]["grant"] == 3 and s["refusals"]["count"] == 2, s' || fail "summary"
audit list --json --kind grant 2>err | python3 -c 'import json, sys
assert [(s["session"], s["matching"]) for s in json.load(sys.stdin)] == [("asked", 3)]' || fail "list"

for format in jsonl csv cef ocsf otel; do
	audit export --format $format asked >out.$format 2>err || fail "$format"
done
python3 "$WARD_SRC/tests/cases/audit/lib/approvals-exports.py" "$WARD_SRC" || fail "see above"

# On the page: asked and approved.
for format in html md json; do
	audit report asked --format $format >out.$format 2>err || fail "report $format"
done
grep -q 'Asked and approved' out.html && grep -q '>granted<' out.html && grep -q '>q2<' out.html || fail "html"
grep -q '^- #.* grant granted `/workspace/.github/ci.yml` request `q1` by `uid 1001` scope `session` until `2030' out.md ||
	fail "md: $(grep grant out.md)"
grep -q '^- #.* grant refused `upload.example.org` request `q2`' out.md || fail "md: $(grep grant out.md)"
python3 "$WARD_SRC/tests/cases/audit/lib/approvals-report.py" || fail "report json"
# Control: where nobody was asked, nothing of it is told.
audit report plain --format md 2>err | grep -q 'Asked and approved' && fail "control: plain"
audit show --kind ask plain 2>err | grep -q . && fail "control: plain"
exit 0
