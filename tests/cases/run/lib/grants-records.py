# SPDX-License-Identifier: Apache-2.0
"""grants-records.py FILE: the records of grants.sh agree with each other."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    records = [json.loads(line) for line in f if line.strip()]
grants = {r["grant"]: r for r in records if r["kind"] == "grant"}
assert len(grants) == 6, grants
first = next(iter(grants.values()))
assert first["path"] == "/workspace/docs/**" and first["uses"] == 2 and first["until"], first
assert first["text"] == "fix the docs" and first["by"] == "uid 0" and first["how"] == "wardfs grant"
for kind, want in (("use", None), ("expire", {"spent", "expired"}), ("revoke", {"revoked"})):
    of = [r for r in records if r["kind"] == kind]
    assert of and all(r["grant"] in grants for r in of), kind
    assert want is None or {r["result"] for r in of} == want, of
uses = [r for r in records if r["kind"] == "use" and r["grant"] == first["grant"]]
assert [r["used"] for r in uses] == [1, 2], uses
assert [r["path"] for r in uses] == ["/workspace/docs/a", "/workspace/docs/made"], uses
# Each access by a grant says so, and its use stands before it.
by = [r for r in records if r.get("source") == "grant" and r["kind"] in ("open", "create")]
assert by, "no access by a grant"
for r in by:
    grant = r["rule"].split(" ")[1]
    assert any(u["grant"] == grant and u["path"] == r["path"] and u["mono"] <= r["mono"]
               for u in records if u["kind"] == "use"), r
    assert r.get("io", "direct") == "direct" and not r.get("cut"), r
