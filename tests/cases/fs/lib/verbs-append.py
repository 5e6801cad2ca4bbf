# SPDX-License-Identifier: Apache-2.0
# Part of ../verbs.sh.
import errno, fcntl, mmap, os
def refused(want, f, *a):
    try:
        f(*a)
    except OSError as e:
        assert e.errno in want, (f, a, e)
        return
    raise SystemExit("allowed: %s %s" % (f, a))
E = (errno.EACCES,)
P = "log/f"
assert open(P).read() == "begin\n"
refused(E, os.open, P, os.O_WRONLY)
refused(E, os.open, P, os.O_RDWR)
refused(E, os.open, P, os.O_WRONLY | os.O_APPEND | os.O_TRUNC)
refused(E, os.truncate, P, 0)
refused(E, os.unlink, P)
refused(E + (errno.EXDEV,), os.rename, P, "log/g")
refused(E + (errno.EXDEV,), os.rename, "normal", P)
refused(E + (errno.EXDEV,), os.link, P, "mine")
fd = os.open(P, os.O_RDWR | os.O_APPEND)
assert os.write(fd, b"one\n") == 4
os.pwrite(fd, b"zzz", 0)
fcntl.fcntl(fd, fcntl.F_SETFL, 0)
os.pwrite(fd, b"two\n", 0)
os.lseek(fd, 0, 0)
os.write(fd, b"three\n")
refused(E, os.ftruncate, fd, 0)
refused((errno.ENODEV, errno.EACCES), mmap.mmap, fd, 4, mmap.MAP_SHARED)
FALLOC_PUNCH = 3
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for mode in (FALLOC_PUNCH, 8, 16):
    assert libc.fallocate(fd, mode, ctypes.c_long(0), ctypes.c_long(4096)) == -1
    assert ctypes.get_errno() in (errno.EACCES, errno.EOPNOTSUPP), ctypes.get_errno()
src = os.open("normal", os.O_RDONLY)
try:
    os.copy_file_range(src, fd, 4, 0, 0)
except OSError as e:
    assert e.errno in (errno.EBADF, errno.EACCES, errno.EOPNOTSUPP, errno.EINVAL), e
os.close(fd)
got = open(P).read()
assert got.startswith("begin\none\nzzztwo\nthree\n"), got
# a new file may be written from its beginning to its end, and no more
fd = os.open("log/new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
os.write(fd, b"abc")
os.write(fd, b"def")
refused(E, os.pwrite, fd, b"X", 0)
os.close(fd)
assert open("log/new").read() == "abcdef"
refused(E, os.open, "log/new", os.O_WRONLY)
os.utime("log/new")
# the controls, in a directory with every right
fd = os.open("normal", os.O_RDWR | os.O_APPEND)
os.ftruncate(fd, 4096)
m = mmap.mmap(fd, 4, mmap.MAP_SHARED)
m[0:4] = b"over"
m.close()
os.truncate("normal", 4)
assert open("normal").read() == "over"
os.unlink("normal")
