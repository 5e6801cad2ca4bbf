# SPDX-License-Identifier: Apache-2.0
# Part of ../io.sh.
# Clears a file without writing, and reserves room in another, which changes nothing.
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
KEEP, PUNCH = 1, 2
for name, mode in ("cleared", KEEP | PUNCH), ("reserved", KEEP):
    fd = os.open(name, os.O_RDWR)
    if libc.fallocate(fd, mode, 0, 8192):
        raise SystemExit(f"{name}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)
