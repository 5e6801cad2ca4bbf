# SPDX-License-Identifier: Apache-2.0
# Part of ../limits.sh.
import json, sys
last = [float(line) for line in open("out")]
for r in map(json.loads, sys.stdin):
    if r["kind"] == "open":
        last.append(r["mono"] / 1e9)
print(int(r["mono"] / 1e9 - max(last, default=0)))
