# SPDX-License-Identifier: Apache-2.0
# Part of ../names-again.sh.
import re, sys
sys.path.insert(0, sys.argv[1])
import verify
def lines(path):
    with open(path, "rb") as f:
        return f.read().split(b"\n")[:-1]
out = lines(sys.argv[2])
with open(sys.argv[4], "rb") as f:
    root = f.read()
for text in lines(sys.argv[3]):
    line = verify.Line(text)
    body = re.sub(rb'"seq":\d+', b'"seq":%d' % (len(out) + 1), text[:text.index(b',"mac":"')], count=1)
    mac = verify.h(verify.ledger_key(root, line), verify.Line(out[-1]).mac + body)
    out.append(body + b',"mac":"' + mac.hex().encode() + b'"}')
with open(sys.argv[3], "wb") as f:
    f.write(b"\n".join(out) + b"\n")
