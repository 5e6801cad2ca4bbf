# SPDX-License-Identifier: Apache-2.0
"""FILE MANIFEST SESSION: the signed text covers that manifest, and a check that ran in SESSION."""
import json, sys
head, line = open(sys.argv[1], encoding="utf-8").read().split("\n")[:2]
says = json.loads(line)
(check,) = says["checks"]
assert head == "wardfs-change 1" and says["manifest"] == sys.argv[2], says
assert check["command"][0] == "sh" and check["result"] == 0 and check["session"] == sys.argv[3]
assert len(check["trail"]) == 64
