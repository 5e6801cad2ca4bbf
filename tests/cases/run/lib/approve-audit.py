# SPDX-License-Identifier: Apache-2.0
# Part of ../approve-audit.sh.
import hashlib
import json
import sys

rows = json.load(open(sys.argv[1], encoding="utf-8"))
assert len(rows) == 2, rows
given = next(r for r in rows if "request" not in r)
answer = next(r for r in rows if "request" in r)
for r in rows:
    assert r["session"] == "one" and r["result"] == "granted" and r["uid"] == int(sys.argv[2]), r

# What the person had seen is all there, and the digest is of it.
assert answer["question"]["argv"][0] == "sh" and answer["question"]["rule_text"] == "ask = .github"
seen = json.dumps(answer["question"], separators=(",", ":")).encode()
assert answer["shown"] == hashlib.sha256(seen).hexdigest(), answer
assert answer["how"] == "approve" and answer["scope"] == "once" and answer["duration"] > 0, answer
once, = answer["grants"]
assert once["uses"] == once["used"] == 1 and once["end"]["result"] == "spent", once
access, = once["accesses"]
assert (access["path"], access["asked"], access["comm"]) == \
    ("/workspace/.github/workflows/ci", ["write"], "sh"), access

assert given["how"] == "wardfs grant" and given["text"] == "look at the manual", given
grant, = given["grants"]
assert grant["path"] == "/workspace/docs/**" and "until" in grant and "uses" not in grant, grant
assert [a["path"] for a in grant["accesses"]] == ["/workspace/docs/a"] and grant["more"] == 0, grant
