# SPDX-License-Identifier: Apache-2.0
"""Part of ../review-hostile.sh: does the report (JSON) have the rows of what people did, and how
many changes it leaves out?"""
import json
import sys

rows = json.load(open(sys.argv[1]))["reviewed"]
what = [r["what"] for r in rows if "path" not in r]
want = ["checked", "apply", "applied", "undo", "undone", "more"]
if what[-6:] != want or rows[-1]["text"] != "5002 more are not listed":
    sys.exit(f"{what} {rows[-1]}")
