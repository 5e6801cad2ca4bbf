# SPDX-License-Identifier: Apache-2.0
# Part of ../bundle.sh.
import re, sys
sys.path.insert(0, sys.argv[1])
import verify
with open(sys.argv[2], "rb") as f:
    lines = f.read().split(b"\n")[:-1]
with open(sys.argv[3], "rb") as f:
    root = f.read()
at = next(i for i, l in enumerate(lines) if b'"kind":"removed"' in l)
body = lines[at][:lines[at].index(b',"mac":"')]
body, n = re.subn(rb'"signature":"(.)', lambda m: b'"signature":"' + (b"B" if m[1] == b"A" else b"A"), body)
assert n == 1
# with the root key its mac can be made, the signature not
line = verify.Line(lines[at])
prev = verify.Line(lines[at - 1]).mac
mac = verify.h(verify.ledger_key(root, line), prev + body)
lines[at] = body + b',"mac":"' + mac.hex().encode() + b'"}'
with open(sys.argv[2], "wb") as f:
    f.write(b"\n".join(lines[:at + 1]) + b"\n")
