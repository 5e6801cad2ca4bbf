# SPDX-License-Identifier: Apache-2.0
# Part of ../exec.sh.
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
code = struct.pack("=HBBI", 6, 0, 0, 0x7fff0000) # BPF_RET: allow
buf = ctypes.create_string_buffer(code)
class Prog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
prog = Prog(1, ctypes.addressof(buf))
number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
r = libc.syscall(number, 1, 8, ctypes.byref(prog)) # SET_MODE_FILTER, NEW_LISTENER
print("listener", errno.errorcode[ctypes.get_errno()] if r < 0 else "made")
