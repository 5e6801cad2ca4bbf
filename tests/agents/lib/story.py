# SPDX-License-Identifier: Apache-2.0
# Part of agents.sh.
import json, sys
records = [json.loads(l) for l in open(sys.argv[1])]
refused = [r for r in records if r["kind"] == "deny"]
def one(part, **more):
    found = [r for r in refused if part in json.dumps(r) and all(r.get(k) == v for k, v in more.items())]
    assert found, (part, refused)
    return found[0]
one(".env")
one("pre-commit")
one("evil.example")
execs = [json.dumps(r) for r in records if r["kind"] == "exec"]
assert any("unittest" in e for e in execs) and any("commit" in e for e in execs), execs[:3]
assert any("web.example" in json.dumps(r) for r in records if r["kind"] != "deny"), "no connection"
