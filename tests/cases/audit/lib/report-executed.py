# SPDX-License-Identifier: Apache-2.0
"""Each program that a session executed counts by its path, also those of one process in turn."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    r = json.load(f)
ran = r["summary"]["executed"]
for name in ("sh", "cat", "env", "true"):
    assert any(p.endswith("/" + name) for p in ran), (name, ran)
# A shell looks there first, and finds nothing.
assert not [p for p in ran if p.startswith("/usr/local/")], ran
assert r["under"]["profile"] == "medium" and r["under"]["base"].endswith("/own.policy"), r["under"]
