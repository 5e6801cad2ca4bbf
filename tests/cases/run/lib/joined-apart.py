# SPDX-License-Identifier: Apache-2.0
"""joined-apart.py: the records `ask` of joined-sums.py. One path has joined, in its own directory."""
import json
import os
import sys

more = 0
for line in sys.stdin:
    shown = json.loads(line)["detail"]
    for path in shown.get("more", []):
        more += 1
        for of in ("path", "path2"):
            assert os.path.dirname(path.get(of, "")) == os.path.dirname(shown.get(of, "")), (shown, path)
assert more == 1, f"control: {more} joined"
