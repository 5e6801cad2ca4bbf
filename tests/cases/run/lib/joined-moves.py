# SPDX-License-Identifier: Apache-2.0
"""joined-moves.py rename|link A B C D [no]: moves A to B and C to D, which is asked about.

When `go` is there, it tries A to D and C to B first, and prints what it could do of all that. With
`no` it does not try these. What was moved already is not there any more.
"""
import os
import sys
import time

one, a, b, c, d = sys.argv[1:6]
do = getattr(os, one)


def tried(old, new):
    try:
        do(old, new)
    except (PermissionError, FileNotFoundError):
        return False
    print("did", os.path.basename(old), os.path.basename(new), flush=True)
    return True


assert not tried(a, b) and not tried(c, d)
print("asked", flush=True)
while not os.path.exists("go"):
    time.sleep(0.05)
if len(sys.argv) == 6:
    tried(a, d)
    tried(c, b)
tried(a, b)
tried(c, d)
