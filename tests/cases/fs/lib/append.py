# SPDX-License-Identifier: Apache-2.0
# Part of ../append.sh.
import ctypes, errno, fcntl, mmap, os, sys
where, free = sys.argv[1], sys.argv[1] == "free"
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
OLD = b"o" * 8192
FICLONE = 0x40049409
path = where + "/log"

def call(r):
    if r < 0:
        raise OSError(ctypes.get_errno(), "")
def fresh():
    # as the host has it
    with open(sys.argv[2] + "/" + path, "wb") as f:
        f.write(OLD)
def with_fd(what, flags=os.O_RDWR | os.O_APPEND):
    fd = os.open(path, flags)
    try:
        what(fd)
    finally:
        os.close(fd)
def clear_append(fd):
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b"X")
def mapped(fd):
    m = mmap.mmap(fd, 8192)
    m[0:1] = b"X"
    m.flush()
def copied(fd):
    src = os.open("free/src", os.O_RDONLY)
    try:
        os.copy_file_range(src, fd, 1, 0, 0)
    finally:
        os.close(src)
def cloned(fd):
    src = os.open("free/src", os.O_RDONLY)
    try:
        fcntl.ioctl(fd, FICLONE, src)
    finally:
        os.close(src)
def opened(flags):
    os.close(os.open(path, flags))
def over():
    with open("free/new", "w") as f:
        f.write("X")
    os.rename("free/new", path)

attempts = {
    # pwrite(2) on an O_APPEND descriptor appends on Linux: nothing below the end changes
    "pwrite": lambda: with_fd(lambda fd: os.pwrite(fd, b"X", 0)),
    "write": lambda: with_fd(lambda fd: os.pwrite(fd, b"X", 0), os.O_WRONLY),
    "setfl": lambda: with_fd(clear_append, os.O_WRONLY | os.O_APPEND),
    "truncate": lambda: os.truncate(path, 1),
    "grow": lambda: os.truncate(path, 9000),
    "ftruncate": lambda: with_fd(lambda fd: os.ftruncate(fd, 1), os.O_WRONLY | os.O_APPEND),
    "o_trunc": lambda: opened(os.O_WRONLY | os.O_TRUNC),
    "o_trunc_append": lambda: opened(os.O_WRONLY | os.O_APPEND | os.O_TRUNC),
    "o_trunc_read": lambda: opened(os.O_RDONLY | os.O_TRUNC),
    "mmap": lambda: with_fd(mapped),
    "punch": lambda: with_fd(lambda fd: call(libc.fallocate(fd, 3, 0, 4096))),
    "zero": lambda: with_fd(lambda fd: call(libc.fallocate(fd, 0x10, 0, 4096))),
    "zero_keep": lambda: with_fd(lambda fd: call(libc.fallocate(fd, 0x11, 0, 4096))),
    "collapse": lambda: with_fd(lambda fd: call(libc.fallocate(fd, 8, 0, 4096))),
    "insert": lambda: with_fd(lambda fd: call(libc.fallocate(fd, 0x20, 0, 4096))),
    "extend": lambda: with_fd(lambda fd: call(libc.fallocate(fd, 0, 0, 9000))),
    "copy": lambda: with_fd(copied, os.O_WRONLY),
    "clone": lambda: with_fd(cloned, os.O_WRONLY),
    "over": over,
    "unlink": lambda: os.unlink(path),
    "away": lambda: os.rename(path, "free/away"),
}
# What may end without an error, since it appends; the rest must be refused.
appends = ("pwrite", "setfl")
# What the file system here may not be able to do at all, and FUSE does not (ioctl).
may_lack = ("collapse", "insert", "clone", "pwrite")
with open("free/src", "wb") as f:
    f.write(b"X" * 8192)
for name, what in attempts.items():
    fresh()
    error = None
    try:
        what()
    except OSError as e:
        error = e
    try:
        with open(sys.argv[2] + "/" + path, "rb") as f:
            have = f.read()
    except FileNotFoundError:
        have = b""
    kept = have[:8192] == OLD
    if free:
        changed = not kept or len(have) != 8192
        if (error or not changed) and name not in may_lack:
            sys.exit("FAIL: control %s: %s" % (name, error))
        continue
    if not kept or (len(have) != 8192 and name not in appends):
        sys.exit("FAIL: %s changed it" % name)
    if error is None and name not in appends:
        sys.exit("FAIL: %s was allowed" % name)
    if error and error.errno not in (errno.EACCES, errno.EXDEV, errno.ENODEV, errno.ENOTTY, errno.EPERM,
                                     errno.EOPNOTSUPP, errno.EINVAL):
        sys.exit("FAIL: %s: %s" % (name, error))
# Nor is room taken behind its end, which no size tells.
fresh()
try:
    with_fd(lambda fd: call(libc.fallocate(fd, 1, 0, 1 << 20)))
    kept_room = True
except OSError as e:
    if e.errno != errno.EACCES:
        sys.exit("FAIL: room behind the end: %s" % e)
    kept_room = False
if kept_room != bool(free):
    sys.exit("FAIL: room behind the end, %s: %s" % ("free" if free else "append", kept_room))
# And it can be appended to.
with open(path, "ab") as f:
    f.write(b"line\n")
with open(sys.argv[2] + "/" + path, "rb") as f:
    assert f.read().endswith(b"line\n")
