# SPDX-License-Identifier: Apache-2.0
"""review-plain.py COMMAND...: runs it where renameat2(2) with any flag is EINVAL, as on NFS."""
import ctypes
import errno
import os
import platform
import struct
import sys

NR = {"x86_64": 316, "aarch64": 276}[platform.machine()]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
ALLOW, FAIL = 0x7FFF0000, 0x00050000 | errno.EINVAL
# struct seccomp_data: nr at 0, the fifth argument's lower half at 16 + 4 * 8.
PROGRAM = [(LOAD, 0, 0, 0), (EQUAL, 0, 3, NR), (LOAD, 0, 0, 48), (EQUAL, 1, 0, 0),
           (RETURN, 0, 0, FAIL), (RETURN, 0, 0, ALLOW)]


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


code = b"".join(struct.pack("HBBI", *op) for op in PROGRAM)
program = Program(len(PROGRAM), code)
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
        libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
    sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")
for flag in (1, 2):
    if libc.renameat2(-100, b"/", -100, b"/", flag) != -1 or ctypes.get_errno() != errno.EINVAL:
        sys.exit("control: a flag of renameat2(2) is not refused")
os.execvp(sys.argv[1], sys.argv[1:])
