# SPDX-License-Identifier: Apache-2.0
"""Prints what permits the refusal of a path, or which rule forbids it: of `denials --json` on stdin."""
import json
import sys

for d in json.load(sys.stdin):
    if d.get("path") != sys.argv[1]:
        continue
    if d["permit"]:
        print(d["permit"]["line"])
    elif d["forbidden_by"]:
        print("by", d["forbidden_by"].split("  ", 1)[1])
    break
