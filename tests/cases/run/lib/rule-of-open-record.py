# SPDX-License-Identifier: Apache-2.0
# Part of ../rule-of-open.sh.
import json, sys
trail, kind, path, line, source, policy = sys.argv[1:]
found = [r for r in map(json.loads, open(trail)) if r["kind"] == kind and r.get("path") == path]
assert found, "no record"
place = policy.rsplit("/", 1)[1] + ":" + line
for r in found:
    assert r.get("rule", "").rsplit("/", 1)[-1] == place and r.get("source") == source, r
