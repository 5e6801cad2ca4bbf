# SPDX-License-Identifier: Apache-2.0
# Part of ../io.sh.
import json, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
def io(name):
    return [(r["action"], r["offset"], r.get("read", r.get("written"))) for r in recs
            if r["kind"] == "io" and r["path"] == "/workspace/" + name]
data = io("data")
assert data[:3] == [("read", 5, 3), ("read", 8, 2), ("write", 1, 2)], data
# the pages of the private mapping come in one by one
assert all(a == "read" for a, _, _ in data[3:]) and data[3:], data
assert io("log") == [("write", 0, 5)] or io("log") == [("write", 4, 5)], io("log")
new = io("new")
assert sum(n for _, _, n in new) == 300000 and [o for _, o, _ in new] == \
    [sum(n for _, _, n in new[:i]) for i in range(len(new))], new
assert any(a == "read" and o == 0 for a, o, _ in io("prog")), "the program was executed unseen"
assert all(r["io"] == "direct" for r in recs if r["kind"] in ("open", "close")), "not direct"
closes = [r for r in recs if r["kind"] == "close" and r["path"] == "/workspace/new"]
assert [r["written"] for r in closes] == [300000], closes
named = [r for r in recs if r["kind"] == "io" and "comm" in r and r["action"] == "write"]
assert named and all(r["comm"] == "python3" and r["pid"] for r in named), named
