# SPDX-License-Identifier: Apache-2.0
# Part of ../disk-errors.sh.
import json, sys
made = {json.loads(l).get("path", "").rsplit("/", 1)[1] for l in open(sys.argv[1]) if '"create"' in l}
told = [l.strip() for l in open(sys.argv[2]) if l.startswith("f")]
missing = [f for f in told if f not in made]
if missing or len(told) < 20:
    sys.exit(f"{len(told)} told, missing {missing[:3]}")
