# SPDX-License-Identifier: Apache-2.0
# Part of ../ledger-log.sh: whoever has the root key writes the ledger anew. ledger-forge.py SUPPORT
# STATE WHAT
import re, sys
sys.path.insert(0, sys.argv[1])
import verify
path, what = sys.argv[2] + "/ledger.jsonl", sys.argv[3]
with open(sys.argv[2] + "/key", "rb") as f:
    root = f.read()
with open(path, "rb") as f:
    lines = f.read().split(b"\n")[:-1]
if what == "edit":
    assert b'"verdict":"complete"' in lines[3], lines[3]
    lines[3] = lines[3].replace(b'"verdict":"complete"', b'"verdict":"incomplete"')
elif what == "swap":
    lines[1], lines[2] = lines[2], lines[1]
elif what == "old":  # as 0.1 wrote it
    lines = [re.sub(rb',"covered":\d+', b"", line) for line in lines]
prev, out = bytes(32), []
for text in lines:
    kind = verify.Line(text)
    body = re.sub(rb'"seq":\d+', b'"seq":%d' % (len(out) + 1), text[:text.index(b',"mac":"')], count=1)
    prev = verify.h(verify.ledger_key(root, kind), prev + body)
    out.append(body + b',"mac":"' + prev.hex().encode() + b'"}')
with open(path, "wb") as f:
    f.write(b"\n".join(out) + b"\n")
