# SPDX-License-Identifier: Apache-2.0
"""Part of ../answers.sh: opens `held` of a directory by its file handle, twice: as it is, and after
the kernel has forgotten what it can. Tells the file's hint for writing (F_SET_RW_HINT), too: before,
and where it was forgotten."""
import ctypes
import fcntl
import os
import struct
import sys
import time

HINT = struct.pack("Q", 4)


def hint(command, room=bytes(8)):
    with open(sys.argv[1] + "/held", "rb") as f:
        return struct.unpack("Q", fcntl.fcntl(f, command, room))[0]


libc = ctypes.CDLL(None, use_errno=True)
room, mount = ctypes.create_string_buffer(200), ctypes.c_int()
ctypes.c_uint.from_buffer(room).value = 128
if libc.name_to_handle_at(-100, sys.argv[1].encode() + b"/held", room, ctypes.byref(mount), 0) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
hint(1036, HINT)  # F_SET_RW_HINT
at = os.open(sys.argv[1], os.O_RDONLY)
for forgotten in False, True:
    # On a busy machine somebody may hold the file a moment longer.
    for _ in range(100 if forgotten else 0):
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("2")
        fd = libc.open_by_handle_at(at, room, os.O_RDONLY)
        if fd < 0:
            break
        os.close(fd)
        time.sleep(0.05)
    fd = libc.open_by_handle_at(at, room, os.O_RDONLY)
    print(os.read(fd, 7).decode() if fd >= 0 else os.strerror(ctypes.get_errno()))
    if fd < 0 or not forgotten:
        print("hint", hint(1035))  # F_GET_RW_HINT
    if fd >= 0:
        os.close(fd)
