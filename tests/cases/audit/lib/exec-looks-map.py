# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-looks.sh: maps a file of the tree, names an argument in it where argv[1] says so,
# and then reads the page itself.
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
fd = os.open("secret", os.O_RDONLY)
at = libc.mmap(None, 8192, 1, 2, fd, 0)
assert at not in (None, ctypes.c_void_p(-1).value), os.strerror(ctypes.get_errno())
argv = (ctypes.c_void_p * 3)(ctypes.cast(ctypes.c_char_p(b"seen"), ctypes.c_void_p).value, at + 100, None)
if sys.argv[1] == "exec":
    libc.execve(b"/nonexistent", argv, None)
argv[1] = argv[0]
libc.execve(b"/nonexistent", argv, None)
assert ctypes.string_at(at + 100, 1) == b"a"
