# SPDX-License-Identifier: Apache-2.0
"""FILE SHA256: what `audit file --blame --json` says of the file of two sessions."""
import json
import os
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    says = json.load(f)
assert says["path"] == "/workspace/changed" and says["sha256"] == sys.argv[2], says
ranges = [(x["first"], x["last"], x["from"], x.get("session")) for x in says["lines"]]
assert ranges == [(1, 1, "project", None), (2, 2, "session", "one"), (3, 4, "project", None),
                  (5, 5, "session", "two"), (6, 6, "project", None)], ranges
assert says["lines"][1]["by"] == os.getuid() and says["lines"][1]["applied"].endswith("Z"), says
