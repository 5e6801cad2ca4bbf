# SPDX-License-Identifier: Apache-2.0
# Part of ../approvals.sh.
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
    assert r["ring"] == 0
    # A member has that name, too: the row of the kind is the last one.
    row = [l for l in page.splitlines() if l.startswith(f"| `{r['kind']}` |")][-1]
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
