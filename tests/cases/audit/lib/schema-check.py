# SPDX-License-Identifier: Apache-2.0
# Part of ../schema.sh.
import json, re, sys

schema = json.load(open(sys.argv[1] + "/audit-record.schema.json"))
page = open(sys.argv[1] + "/audit-format.md").read()
TYPES = {"integer": int, "string": str, "array": list, "object": dict, "null": type(None)}
USED = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "required", "enum", "const",
        "additionalProperties", "properties", "pattern", "minimum", "items"}


def fits(value, s, where):
    """What is wrong with the value, or None. Knows what the schema uses (JSON Schema 2020-12)."""
    assert set(s) <= USED, set(s) - USED
    if "$ref" in s:
        return fits(value, schema["$defs"][s["$ref"].rsplit("/", 1)[1]], where)
    if "const" in s and (value != s["const"] or isinstance(value, bool) != isinstance(s["const"], bool)):
        return f"{where}: not {s['const']}"
    if "enum" in s and value not in s["enum"]:
        return f"{where}: {value!r} is none of those"
    types = s.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(isinstance(value, TYPES[t]) and not isinstance(value, bool) for t in types):
        return f"{where}: {value!r} is no {types}"
    if isinstance(value, int) and value < s.get("minimum", value):
        return f"{where}: {value}"
    if isinstance(value, str) and not re.search(s.get("pattern", ""), value):
        return f"{where}: {value!r} has not the form"
    if isinstance(value, list):
        return next(filter(None, (fits(v, s["items"], where) for v in value)), None)
    if isinstance(value, dict) and "properties" in s:
        wrong = [f"{where}: lacks {m}" for m in s["required"] if m not in value]
        wrong += [f"{where}: {m} is unknown" for m in value if m not in s["properties"]]
        wrong += [fits(v, s["properties"][m], m) for m, v in value.items() if m in s["properties"]]
        return next(filter(None, wrong), None)
    return None


records = [json.loads(line) for line in open(sys.argv[2])]
for r in records:
    wrong = fits(r, schema, f"record {r['seq']}")
    assert not wrong, wrong
assert {r["kind"] for r in records} == set(schema["properties"]["kind"]["enum"])
assert set().union(*records) | {"cut"} == set(schema["properties"]), "members of no record"
whole = {r["kind"]: r for r in sorted(records, key=len)}
assert whole["exec"]["argv"] == ["sh", "-c", 'a "b"\\\\\\n\\xff', ""], whole["exec"]
assert whole["clock"]["step"] == -3 and whole["close"]["sha256"][:4] == "abcd", whole
assert whole["probe"]["control"] == "ESRCH", whole["probe"]
assert whole["grant"]["until"] == "1970-01-01T00:00:00.000000003Z", whole["grant"]
for name in list(schema["properties"]) + schema["properties"]["kind"]["enum"]:
    assert f"`{name}" in page or f" {name}`" in page or f" {name} " in page or f'"{name}"' in page, name
# Control: the checker reports a record that does not match.
for m, v in (("seq", "1"), ("kind", "opened"), ("time", "now"), ("mac", "00"), ("asked", ["fly"]),
             ("cut", 1), ("frob", 1)):
    assert fits({**whole["exec"], m: v}, schema, "control"), m
assert fits({m: v for m, v in whole["exec"].items() if m != "pos"}, schema, "control")
