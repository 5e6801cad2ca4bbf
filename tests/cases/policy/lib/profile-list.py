# SPDX-License-Identifier: Apache-2.0
# Part of ../profile.sh.
import json
o = json.load(open("list.json"))
assert o["here"] == "medium", o["here"]
for p in o["profiles"]:
    assert len(p["purpose"]) > 20 and p["from"].startswith("shipped"), p
    print(p["name"])
