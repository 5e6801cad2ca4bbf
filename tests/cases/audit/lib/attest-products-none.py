# SPDX-License-Identifier: Apache-2.0
# Part of ../attest-products.sh.
import base64, json, sys
s = json.loads(base64.b64decode(json.load(open(sys.argv[1]))["payload"]))
assert len(s["subject"]) == 1, s["subject"]
assert s["predicate"]["products"] == {"files": 1, "listed": 0, "without_digest": 1, "more": 0}, s["predicate"]["products"]
