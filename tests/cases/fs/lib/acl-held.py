# SPDX-License-Identifier: Apache-2.0
"""acl-held.py: who is in a directory, or has it open, keeps it while the ACL of the one above changes. Both
ACLs give the caller everything."""
import os
import struct
import sys
import time

ACL = "system.posix_acl_access"
NONE = (1 << 32) - 1
os.makedirs("above/held")
os.chdir("above/held")
want = os.getcwd()
for i in range(60):
    entries = [(1, 7, NONE), (4, i % 8, NONE), (32, 0, NONE)]
    os.setxattr("..", ACL, struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries))
    time.sleep(0.01)
    try:
        found = os.getcwd()
    except OSError as e:
        sys.exit(f"change {i}: getcwd: {e}")
    if found != want:
        sys.exit(f"change {i}: in {found}")
