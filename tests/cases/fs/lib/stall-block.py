# SPDX-License-Identifier: Apache-2.0
# Part of ../stall.sh.
import ctypes, fcntl, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
uffd = libc.syscall(323, os.O_CLOEXEC)  # userfaultfd(2) on x86-64
if uffd < 0:
    sys.exit(77)
# UFFDIO_API, UFFDIO_REGISTER (missing pages) of <linux/userfaultfd.h>
fcntl.ioctl(uffd, 0xC018AA3F, bytearray(struct.pack("QQQ", 0xAA, 0, 0)))
room = mmap.mmap(-1, 65536)
addr = ctypes.addressof(ctypes.c_char.from_buffer(room))
fcntl.ioctl(uffd, 0xC020AA00, bytearray(struct.pack("QQQQ", addr, 65536, 1, 0)))
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
open(sys.argv[2], "w").close()
libc.syscall(217, fd, ctypes.c_void_p(addr), 65536)  # getdents64(2)
