#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Questions to a person and their answers (`ask`, `grant`), as the writer chains and signs them: shown,
# filtered, indexed, exported, reported, verified, by whoever reads a trail.
set -u
. "$WARD_SRC/tests/support/audit.sh"
run --session asked --events 11 --asked
run --session plain --events 11

audit verify asked >verdict && fail "a grant from another ring is no gap: $(cat verdict)"
grep -q '^asked: gap: 1 records tell of a gap' verdict || fail "$(cat verdict)"
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
python3 - "$WARD_SRC" <<'END' || fail "see above"
import csv, json, re, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/tests/support")
from ocsf import wrong
trail = [json.loads(line) for line in open("out.jsonl")]
questions = [r for r in trail if r["kind"] in ("ask", "grant")]
assert len(questions) == 6
# The schema knows their members, and the page names each of them in the row of its kind.
schema = json.load(open(sys.argv[1] + "/docs/audit-record.schema.json"))
page = open(sys.argv[1] + "/docs/audit-format.md").read()
for r in questions:
    assert set(r) <= set(schema["properties"]), r
    assert r["kind"] in schema["properties"]["kind"]["enum"]
    assert (r["ring"] == 0) == (r["kind"] == "grant")
    row = next(l for l in page.splitlines() if l.startswith(f"| `{r['kind']}` |"))
    row += next(l for l in page.splitlines() if l.startswith("| `ask` |"))
    for member in set(r) & {"request", "result", "by", "scope", "until", "path", "host", "port", "asked", "verdict", "action"}:
        assert re.search(rf"`([^`]* )?{member}( [^`]*)?`", row), (r["kind"], member)
by = {r["seq"]: r for r in questions}
ask = {r["request"]: r for r in questions if r["kind"] == "ask"}
for r in questions:
    assert {m: r.get(m) for m in ("action", "path", "host", "port", "asked")} == \
        {m: ask[r["request"]].get(m) for m in ("action", "path", "host", "port", "asked")}, r

rows = {int(r["seq"]): r for r in csv.DictReader(open("out.csv", newline=""))}
for seq, r in by.items():
    for member in ("kind", "request", "result", "by", "scope", "until", "path", "host", "verdict", "mac"):
        assert rows[seq][member] == r.get(member, ""), (member, rows[seq])

for line, r in zip(open("out.cef"), trail):
    if r["seq"] not in by:
        continue
    rest = line.rstrip("\n").split("|", 7)[7]
    keys = dict(re.findall(r"(\w+)=((?:[^=\\]|\\.)*?)(?= \w+=|$)", rest))
    assert keys["flexString1Label"] == "request" and keys["flexString1"] == r["request"], keys
    if r["kind"] == "grant":
        assert keys["outcome"] == r["result"] and keys["flexString2"] == r["scope"], keys
        assert keys["suser"] == "uid 1001" and keys["deviceCustomDate1"] == "1893456000000", keys
    else:
        assert keys["outcome"] == "ask", keys
    assert keys.get("dhost", "") == r.get("host", ""), keys
    if "path" in r:
        assert re.sub(r"\\(.)", r"\1", keys["filePath"]) == r["path"], keys

# Asked is neither allowed nor refused; approved is approved by somebody.
want = {("ask", None): (0, 23, 0), ("grant", "granted"): (1, 8, 1), ("grant", "refused"): (2, 2, 2),
        ("grant", "expired"): (2, 2, 2)}
for line in open("out.ocsf"):
    o = json.loads(line)
    assert not wrong(o), (wrong(o), o)
    r = by.get(o["metadata"]["sequence"])
    if not r:
        continue
    assert (o["status_id"], o["disposition_id"], o["action_id"]) == want[r["kind"], r.get("result")], o
    assert o["class_uid"] == (1001 if "path" in r else 4001), o
    assert o["unmapped"] == {m: r[m] for m in ("request", "result", "by", "scope", "until") if m in r}, o
    if "path" in r:
        assert o["activity_id"] == 3 and o["file"]["path"] == r["path"], o
    else:
        assert o["activity_id"] == 99 and o["dst_endpoint"] == {"hostname": r["host"], "port": 443}, o
for line, r in zip(open("out.otel"), trail):
    rec = json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    have = {a["key"]: a["value"] for a in rec["attributes"]}
    for member in ("request", "result", "by", "scope", "until"):
        assert have.get("wardfs." + member) == ({"stringValue": r[member]} if member in r else None), (member, have)
END

# On the page: asked and approved.
for format in html md json; do
	audit report asked --format $format >out.$format 2>err || fail "report $format"
done
grep -q 'Asked and approved' out.html && grep -q '>granted<' out.html && grep -q '>q2<' out.html || fail "html"
grep -q '^- #.* grant granted `/workspace/.github/ci.yml` request `q1` by `uid 1001` scope `session` until `2030' out.md ||
	fail "md: $(grep grant out.md)"
grep -q '^- #.* grant refused `upload.example.org` request `q2`' out.md || fail "md: $(grep grant out.md)"
python3 -c 'import json
a = json.load(open("out.json"))["approvals"]
assert [(x["kind"], x["request"], x.get("result")) for x in a] == [
    ("ask", "q1", None), ("grant", "q1", "granted"), ("ask", "q2", None), ("grant", "q2", "refused"),
    ("ask", "q3", None), ("grant", "q3", "expired")] or sorted(x["request"] for x in a) == [
    "q1", "q1", "q2", "q2", "q3", "q3"], a' || fail "report json"
# Control: where nobody was asked, nothing of it is told.
audit report plain --format md 2>err | grep -q 'Asked and approved' && fail "control: plain"
audit show --kind ask plain 2>err | grep -q . && fail "control: plain"
exit 0
