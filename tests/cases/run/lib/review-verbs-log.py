# SPDX-License-Identifier: Apache-2.0
"""FILE: what the records of files say, without what two sessions cannot have in common. Those of
reads and writes are left out: how requests are cut depends on time."""
import json
import sys

KEEP = ("kind", "action", "path", "path2", "names", "verdict", "rule_text", "source", "errno", "name",
        "access", "size_before", "rights", "flags")
lines = set()
with open(sys.argv[1], encoding="utf-8") as f:
    for line in f:
        record = json.loads(line)
        path = record.get("path") or ""
        if path.startswith("/workspace") and record["kind"] not in ("session.start", "step"):
            lines.add(json.dumps({k: record[k] for k in KEEP if k in record}, sort_keys=True))
print("\n".join(sorted(lines)))
