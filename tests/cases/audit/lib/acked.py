# SPDX-License-Identifier: Apache-2.0
# Part of audit.sh.
import collections, json, sys
seen = collections.Counter()
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] in ("open", "deny"):
        seen[r["path"] if r["kind"] == "open" else r["text"]] += 1
acked = [line.strip() for line in open("acked")]
lost = [p for p in acked if not seen[p]]
twice = [p for p, n in seen.items() if n > 1]
if lost or twice or not acked:
    sys.exit(f"{len(acked)} acknowledged, lost {lost[:3]} doubled {twice[:3]}")
