# SPDX-License-Identifier: Apache-2.0
"""Part of ../answers.sh: opens `held` of a directory by its file handle, twice: as it is, and after
the kernel has forgotten what it can."""
import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
room, mount = ctypes.create_string_buffer(200), ctypes.c_int()
ctypes.c_uint.from_buffer(room).value = 128
if libc.name_to_handle_at(-100, sys.argv[1].encode() + b"/held", room, ctypes.byref(mount), 0) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
at = os.open(sys.argv[1], os.O_RDONLY)
for forgotten in False, True:
    if forgotten:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("2")
    fd = libc.open_by_handle_at(at, room, os.O_RDONLY)
    print(os.read(fd, 7).decode() if fd >= 0 else os.strerror(ctypes.get_errno()))
    if fd >= 0:
        os.close(fd)
