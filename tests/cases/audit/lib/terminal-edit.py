# SPDX-License-Identifier: Apache-2.0
# Part of ../terminal.sh.
"""Edits the trail named: puts what steers a terminal into each text, escaped as JSON allows and as bytes."""
import copy, json, sys

HOSTILE = "a\x1b]0;T\x07\x08\r\nFORGED\nFORGED\x85FORGED\u2028FORGED\u202e\u2066\u200f\x9b31m\x7f\xadz"
path = sys.argv[1]


def hostile(v, keep=()):
    """The value with each text made hostile; of a record, but the members in keep."""
    if isinstance(v, str):
        return v + HOSTILE
    if isinstance(v, list):
        return [hostile(x) for x in v]
    if isinstance(v, dict):
        return {k if k in keep or keep else k + HOSTILE: x if k in keep else hostile(x) for k, x in v.items()}
    return v


records = [json.loads(line) for line in open(path, encoding="utf-8")]
lines = []
for r in records:
    r.setdefault("detail", {})
    r["detail"].update({"host_executed": ["x"], "left": [{"kind": "fifo", "path": "p", "to": "q"}]})
    # As JSON escapes it, with enough left that each verb knows what the record is.
    lines.append(json.dumps(hostile(r, keep={"kind", "action", "verdict", "seq"})).encode())
    # The characters themselves: JSON takes those beyond ASCII, and DEL.
    text = json.dumps(hostile(copy.deepcopy(r), keep={"kind", "action", "seq"}))
    for c in "\x85\u2028\u202e\u2066\u200f\x9b\xad\x7f":
        text = text.replace("\\u%04x" % ord(c), c)
    lines.append(text.encode())
    # Words that the programs know are hostile, too.
    lines.append(json.dumps(hostile(r, keep={"seq"})).encode())
# No JSON at all, and no UTF-8.
lines.append(b'{"v":1,"path":"' + HOSTILE.replace("\n", "").encode() + b'"}')
lines.append(b'\x1b[31m \x9b31m \xff\xc3')
lines.append(b'{"v":1,"path":"\xff\x9b31m"}')
with open(path, "wb") as f:
    f.write(b"\n".join(lines) + b"\n")
