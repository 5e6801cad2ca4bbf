# SPDX-License-Identifier: Apache-2.0
# Part of ../crashed.sh.
import json, sys
made = set()
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "create":
        made.add(r["path"].rsplit("/", 1)[1])
told = [line.strip() for line in open(sys.argv[2]) if line.endswith("\n")]
missing = [f for f in told if f not in made]
if missing or len(told) < 20:
    sys.exit(f"{len(told)} told, missing {missing[:3]}")
