# SPDX-License-Identifier: Apache-2.0
"""review-acl.py set|get DIRECTORY: makes one with an attribute and ACLs, or prints what it has."""
import os
import struct
import sys

# acl(5): version 2, then tag, permissions and id of each entry.
USER_OBJ, USER, GROUP_OBJ, MASK, OTHER, NOBODY = 1, 2, 4, 0x10, 0x20, 0xffffffff


def acl():
    entries = [(USER_OBJ, 7, NOBODY), (USER, 5, os.geteuid()), (GROUP_OBJ, 5, NOBODY),
               (MASK, 5, NOBODY), (OTHER, 0, NOBODY)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)


what, path = sys.argv[1:3]
if what == "set":
    os.makedirs(path, exist_ok=True)
    os.setxattr(path, "user.test", b"kept")
    for name in ("system.posix_acl_access", "system.posix_acl_default"):
        os.setxattr(path, name, acl())
else:
    for name in sorted(os.listxattr(path)):
        if name.startswith(("user.", "system.posix_acl_")):
            print(name, len(os.getxattr(path, name)))
