# SPDX-License-Identifier: Apache-2.0
# Part of ../anchors.sh.
import ast, base64, re, sys
own = open(sys.argv[1], encoding="utf-8").read()
lines = [l for l in open(sys.argv[2], encoding="utf-8") if "checkpoint of session logs over" in l]
notes = [base64.b64decode(l.rsplit(" ", 1)[1]).decode() for l in lines]
assert all(re.match(r"wardfs\[\d+\]: ", l) for l in lines), lines
journal = [ast.literal_eval(l) for l in open(sys.argv[3], encoding="utf-8")]
for got in notes, [j["WARDFS_CHECKPOINT"] for j in journal]:
    assert len(got) >= 2 and all(n in own for n in got), got
    assert got[0].split("\n")[1] == "0" and "state complete" in got[-1], got
assert journal[0]["WARDFS_SESSION"] == "logs" and journal[0]["SYSLOG_IDENTIFIER"] == "wardfs"
