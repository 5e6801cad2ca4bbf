# SPDX-License-Identifier: Apache-2.0
# Part of ../no-cgroups.sh.
"""SESSION: `audit guarantees --json` names it where it was allowed to be without limit-memory."""
import json
import sys

g = json.load(sys.stdin)
memory = g["guarantees"]["limit-memory"]
where, = [w for w in memory["missing"] if w["session"] == sys.argv[1]]
assert where["reason"]["because"] == "--allow-missing" and where["reason"]["why"], where
assert memory["held"] > 0, memory
assert g["guarantees"]["files"] == {"held": g["sessions"], "missing": []}, g
assert g["failed"] == [] and g["without_sandbox"] == 0, g
