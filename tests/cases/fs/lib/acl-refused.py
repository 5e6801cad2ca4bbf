# SPDX-License-Identifier: Apache-2.0
"""acl-refused.py: ACLs that the kernel does not take, or takes as none. Prints what it says of each."""
import os

ONE = b"\1\0\7\0\xff\xff\xff\xff"
for name in "access", "default":
    for value in b"", b"\2\0\0\0", b"\3\0\0\0", b"\2\0\0\0" + ONE, b"x" * 44:
        for path in "f", "d", "d/link":
            try:
                os.setxattr(path, "system.posix_acl_" + name, value, follow_symlinks=path != "d/link")
                print(name, value, path)
            except OSError as e:
                print(name, value, path, e.errno)
