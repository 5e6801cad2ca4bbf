# SPDX-License-Identifier: Apache-2.0
# Part of ../approvals.sh.
import json
a = json.load(open("out.json"))["approvals"]
assert [(x["kind"], x["request"], x.get("result")) for x in a] == [
    ("ask", "q1", None), ("grant", "q1", "granted"), ("ask", "q2", None), ("grant", "q2", "refused"),
    ("ask", "q3", None), ("grant", "q3", "expired")] or sorted(x["request"] for x in a) == [
    "q1", "q1", "q2", "q2", "q3", "q3"], a
