# SPDX-License-Identifier: Apache-2.0
# Part of ../attest-products.sh.
"""PROJECT STATEMENT: the subjects are the files that the session left in the project, as they are."""
import base64
import hashlib
import json
import os
import sys

with open(sys.argv[2], encoding="ascii") as f:
    s = json.loads(base64.b64decode(json.load(f)["payload"]))
have = {x["name"]: x["digest"]["sha256"] for x in s["subject"][1:]}
want = {}
for path in "changed", "saved", "e/f", "linked":
    with open(os.path.join(sys.argv[1], path), "rb") as f:
        want["/workspace/" + path] = hashlib.sha256(f.read()).hexdigest()
assert have == want, (have, want)
assert s["subject"][0]["name"] == "wardfs/trail/made"
products = s["predicate"]["products"]
assert products == {"files": 4, "listed": 4, "without_digest": 0, "more": 0}, products
