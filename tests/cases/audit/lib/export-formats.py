# SPDX-License-Identifier: Apache-2.0
# Part of ../export.sh.
import csv, json, re, sys

trail = [json.loads(line) for line in open("out.jsonl")]
seqs = [r["seq"] for r in trail]
macs = [r["mac"] for r in trail]
hostile = next(r for r in trail if r["kind"] == "rename")
assert hostile["path"].startswith("=1|2\\\\3=4 \"x\", a\\nb\\r\\x1b[31m\\xff"), hostile["path"]

rows = list(csv.DictReader(open("out.csv", newline="")))
assert [int(r["seq"]) for r in rows] == seqs and [r["mac"] for r in rows] == macs
row = rows[hostile["seq"] - 1]
assert row["path"] == "'" + hostile["path"], row["path"]
assert all(None not in r and None not in r.values() for r in rows)

def cef(line):
    head, fields = [], line
    for _ in range(7):
        m = re.match(r"((?:[^|\\]|\\.)*)\|", fields)
        head.append(re.sub(r"\\(.)", r"\1", m[1]))
        fields = fields[m.end():]
    found = {}
    keys = list(re.finditer(r"(?:^| )([A-Za-z0-9]+)=", fields))
    keys = [k for k in keys if (len(fields[:k.end() - 1]) - len(fields[:k.end() - 1].rstrip("\\"))) % 2 == 0]
    for k, after in zip(keys, keys[1:] + [None]):
        value = fields[k.end():after.start() if after else None]
        found[k[1]] = re.sub(r"\\(.)", r"\1", value)
    return head, found

lines = open("out.cef", newline="\n").read().splitlines()
parsed = [cef(line) for line in lines]
assert [p[1]["externalId"] for p in parsed] == [f"x:{s}" for s in seqs]
assert [p[1]["cs3"].strip() for p in parsed] == macs
assert parsed[hostile["seq"] - 1][1]["filePath"] == hostile["path"], parsed[hostile["seq"] - 1]
assert all(p[0][0] == "CEF:0" and len(p[0]) == 7 and p[1]["dvchost"] for p in parsed)

# Where to, and with which arguments: what was refused is named.
events = [cef(line) for line in open("every.cef", newline="\n").read().splitlines()]
for kind in "connect", "dns":
    head, f = max((e for e in events if e[0][4] == kind), key=lambda e: len(e[1]))
    assert f["dhost"] == f["dst"] == f["app"] == "text" and f["dpt"] == f["in"] == f["out"] == "3", f
head, f = max((e for e in events if e[0][4] == "exec"), key=lambda e: len(e[1]))
assert f["cs5Label"] == "argv" and f["cs5"].startswith("sh,-c,a "), f
assert all(len(e[1]) == len(re.findall("(?:^| )[A-Za-z0-9]+=", line.split("|", 7)[7])) for e, line in
           zip(events, open("every.cef", newline="\n").read().splitlines())), "a key twice"

every = [json.loads(line) for line in open("every.ocsf")]
ocsf = [json.loads(line) for line in open("out.ocsf")]
assert [o["metadata"]["sequence"] for o in ocsf] == seqs
assert [json.loads(o["raw_data"])["mac"] for o in ocsf] == macs
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from ocsf import CLASSES, OBJECTS, wrong
for o in ocsf + every:
    assert o["metadata"]["version"] == "1.3.0" and not wrong(o), (wrong(o), o)
assert {o["class_uid"] for o in every} == set(CLASSES), "a class of no record"

# Control: the checker reports a missing required member.
def broken(o, attributes, profiles):
    """o with one thing wrong, in each way that the table of the schema can tell."""
    for name, a in attributes.items():
        if name not in o:
            continue
        if a["required"]:
            yield {k: v for k, v in o.items() if k != name}
        kind, value = a["type"], o[name]
        yield {**o, name: 1.5 if kind.endswith("_t") and not a["list"] else "x"}
        if a["list"]:
            yield {**o, name: []}
        elif a["values"]:
            yield {**o, name: 77}
        elif kind in OBJECTS:
            for less in broken(value, OBJECTS[kind][1], profiles):
                yield {**o, name: less}
            if OBJECTS[kind][0]:
                yield {**o, name: {k: v for k, v in value.items() if k not in OBJECTS[kind][0]}}
        elif kind in ("ip_t", "hostname_t"):
            yield {**o, name: "a b"}
        elif kind == "port_t":
            yield {**o, name: 65536}
        elif kind == "string_t":
            yield {**o, name: "x" * 65536}
    yield {**o, "no_such_attribute": 1}

tried = 0
for o in every:
    category, attributes = CLASSES[o["class_uid"]]
    for other in broken(o, attributes, o["metadata"].get("profiles", [])):
        tried += 1
        assert wrong(other), (o["class_uid"], other)
    if "action_id" in o:
        assert wrong({**o, "metadata": {**o["metadata"], "profiles": ["host"]}}), o
    assert wrong({**o, "type_uid": 1}) and wrong({**o, "category_uid": 9})
assert tried > 1000, tried
whole = {json.loads(o["raw_data"])["kind"]: o for o in sorted(every, key=lambda o: len(o["raw_data"]))}
launch, connect, dns = whole["exec"], whole["connect"], whole["dns"]
assert [o["class_uid"] for o in (launch, connect, dns)] == [1007, 4001, 4003]
assert launch["process"]["cmd_line"].startswith("sh -c a ") and launch["process"]["parent_process"]["pid"] == 3
assert launch["actor"]["process"]["tid"] == 3 and launch["actor"]["process"]["file"]["path"] == "text"
assert launch["actor"]["process"]["name"] == "text" and launch["process"]["file"]["path"] == "text"
# "text" is no address.
assert connect["dst_endpoint"] == {"hostname": "text", "name": "text", "port": 3}, connect["dst_endpoint"]
assert connect["traffic"] == {"bytes_out": 3, "bytes_in": 3} and connect["tls"]["sni"] == "text"
assert dns["query"] == {"hostname": "text", "type": "text"} and dns["activity_id"] == 2
assert [a["rdata"] for a in dns["answers"]][:2] == ["sh", "-c"], dns["answers"]
deny = [o for o in ocsf if o.get("disposition_id") == 2]
assert len(deny) == 2 and all(o["status_id"] == 2 and o["status_code"] == "EACCES" for o in deny)
assert ocsf[hostile["seq"] - 1]["activity_id"] == 5
assert ocsf[hostile["seq"] - 1]["file_result"]["path"] == hostile["path2"]

otel = [json.loads(line) for line in open("out.otel")]
for o, r in zip(otel, trail):
    rec = o["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    assert rec["timeUnixNano"].isdigit() and json.loads(rec["body"]["stringValue"]) == r
    attributes = {a["key"]: a["value"] for a in rec["attributes"]}
    assert attributes["wardfs.mac"]["stringValue"] == r["mac"]
    assert attributes["wardfs.seq"]["intValue"] == str(r["seq"])
assert len(otel) == len(trail)

for f in "jsonl", "csv", "cef", "ocsf", "otel":
    whole, late = open("out." + f, newline="").read(), open("late." + f, newline="").read()
    assert whole.endswith(late) and late.count("\n") == len(seqs) - 7, f
