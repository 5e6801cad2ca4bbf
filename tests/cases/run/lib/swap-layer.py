#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes a layer of a layout while a program reads it: swap-layer.py LAYOUT FROM TO COMMAND...

The kernel asks before each open of the largest blob (fanotify(7)). At the second one, which is that
of the second pass, FROM becomes TO in the file. Exits as COMMAND does, or 99 without a second open.
"""
import ctypes
import os
import select
import struct
import subprocess
import sys

OPEN_PERM, ALLOW, MARK_ADD, CLASS_CONTENT, CLOEXEC = 0x10000, 1, 1, 4, 1
EVENT = "IBBHQii"


def fanotify(path):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.fanotify_init(CLASS_CONTENT | CLOEXEC, os.O_RDONLY | os.O_CLOEXEC)
    if fd < 0 or libc.fanotify_mark(fd, MARK_ADD, ctypes.c_uint64(OPEN_PERM), -100,
                                    path.encode()) < 0:
        sys.exit("fanotify: " + os.strerror(ctypes.get_errno()))
    return fd


def main():
    layout, before, after = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
    blobs = os.path.join(layout, "blobs/sha256")
    path = max((os.path.join(blobs, name) for name in os.listdir(blobs)), key=os.path.getsize)
    with open(path, "r+b") as blob:
        data = blob.read()
        fan = fanotify(path)
        child = subprocess.Popen(sys.argv[4:])
        opens = 0
        while child.poll() is None:
            if not select.select([fan], [], [], 0.1)[0]:
                continue
            event = os.read(fan, struct.calcsize(EVENT))
            opened = struct.unpack(EVENT, event)[5]
            opens += 1
            if opens == 2:
                blob.seek(0)
                blob.write(data.replace(before, after))
                blob.flush()
            os.write(fan, struct.pack("iI", opened, ALLOW))
            os.close(opened)
    return child.returncode if opens >= 2 else 99


sys.exit(main())
