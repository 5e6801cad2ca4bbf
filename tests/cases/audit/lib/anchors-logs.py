# SPDX-License-Identifier: Apache-2.0
# Part of ../anchors.sh.
import ast, base64, re, sys
own = open(sys.argv[1], encoding="utf-8").read()
# Beside those of the session, the last ones of the ledger.
syslog = [l for l in open(sys.argv[2], encoding="utf-8") if "checkpoint of the ledger over" in l]
assert len(syslog) >= 2 and all("/ledger\n" in base64.b64decode(l.rsplit(" ", 1)[1]).decode() for l in syslog), syslog
lines = [l for l in open(sys.argv[2], encoding="utf-8") if "checkpoint of session logs over" in l]
notes = [base64.b64decode(l.rsplit(" ", 1)[1]).decode() for l in lines]
assert all(re.match(r"wardfs\[\d+\]: ", l) for l in lines), lines
journal = [ast.literal_eval(l) for l in open(sys.argv[3], encoding="utf-8")]
ledger = [j for j in journal if "WARDFS_LEDGER" in j]
assert len(ledger) >= 2 and all(j["WARDFS_CHECKPOINT"].startswith(j["WARDFS_LEDGER"] + "\n" + j["WARDFS_ENTRIES"]) for j in ledger)
for got in notes, [j["WARDFS_CHECKPOINT"] for j in journal if j not in ledger]:
    assert len(got) >= 2 and all(n in own for n in got), got
    assert got[0].split("\n")[1] == "0" and "state complete" in got[-1], got
assert journal[0]["WARDFS_SESSION"] == "logs" and journal[0]["SYSLOG_IDENTIFIER"] == "wardfs"
