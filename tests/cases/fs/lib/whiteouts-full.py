# SPDX-License-Identifier: Apache-2.0
"""Under a quota of two files a whiteout is one of them."""
import ctypes
import errno
import os
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_WHITEOUT = -100, 4


def rename(old, new):
    """0 or the errno"""
    r = LIBC.renameat2(AT_FDCWD, old, AT_FDCWD, new, RENAME_WHITEOUT)
    return ctypes.get_errno() if r else 0


with open("a", "w", encoding="ascii") as f:
    f.write("x")
if rename(b"a", b"b"):
    sys.exit("the control: there is room")
if rename(b"b", b"c") != errno.EDQUOT or sorted(os.listdir(".")) != ["a", "b"]:
    sys.exit("past the quota")
os.unlink("a")
if rename(b"b", b"c"):
    sys.exit("there is room once more")
