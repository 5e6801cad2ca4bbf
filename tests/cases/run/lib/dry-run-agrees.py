# SPDX-License-Identifier: Apache-2.0
# Part of ../dry-run.sh.
import json, sys
o = json.load(open("dry.json"))
status = int(sys.argv[1])
assert o["would_start"] is (status == 0), o["would_start"]
assert o["status"] == (status or None), o["status"]
assert (o["reason"] is None) == (status == 0), o["reason"]
