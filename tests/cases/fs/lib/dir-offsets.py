# SPDX-License-Identifier: Apache-2.0
# Part of ../dir-offsets.sh: prints each entry of directories with its inode number and its
# position, as getdents64(2) gives them: by parts of SIZE bytes, so that many parts begin behind
# one.
import ctypes, os, struct, sys
SYS_getdents64 = {"x86_64": 217, "aarch64": 61, "riscv64": 61}[os.uname().machine]
libc = ctypes.CDLL(None, use_errno=True)
size = int(sys.argv[1])
for name in sys.argv[2:]:
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
    buf = ctypes.create_string_buffer(size)
    while True:
        n = libc.syscall(SYS_getdents64, fd, buf, size)
        if n < 0:
            sys.exit("getdents64: %s" % os.strerror(ctypes.get_errno()))
        if not n:
            break
        at = 0
        while at < n:
            ino, off, reclen = struct.unpack_from("<QqH", buf, at)
            text = buf[at + 19:at + reclen].split(b"\0")[0]
            print(os.path.basename(name), text.decode(), ino, off)
            at += reclen
    os.close(fd)
