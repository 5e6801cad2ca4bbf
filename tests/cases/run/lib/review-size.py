# SPDX-License-Identifier: Apache-2.0
# Fills the store of a review session, in as many ways as there are. Prints how many bytes of what
# is staged, or "EDQUOT" where that is refused.
import errno
import mmap
import os
import sys
import threading

MB = 1 << 20


def limited(fn):
    try:
        return fn()
    except OSError as e:
        if e.errno == errno.EDQUOT:
            return "EDQUOT"
        raise


def fill(fd, size=64 * MB):
    n = 0
    while n < size:
        try:
            n += os.write(fd, b"x" * MB)
        except OSError as e:
            if e.errno != errno.EDQUOT:
                raise
            break
    return n


def write(name="w"):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644)
    n = fill(fd)
    os.close(fd)
    return n


def append():
    fd = os.open("a", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    return fill(fd)


def copies():
    """Opens files of the project, which are copied then."""
    n = 0
    for i in range(16):
        try:
            os.close(os.open(f"big{i}", os.O_RDWR))
            n += 4 * MB
        except OSError as e:
            if e.errno != errno.EDQUOT:
                raise
    return n


def sparse():
    """A hole is filled by a mapping, unseen."""
    def go():
        fd = os.open("sparse", os.O_RDWR)
        with mmap.mmap(fd, 0) as m:
            for at in range(0, len(m), 4096):
                m[at] = 1
        return os.fstat(fd).st_size
    return limited(go)


def truncated():
    fd = os.open("t", os.O_RDWR | os.O_CREAT, 0o644)
    return limited(lambda: os.ftruncate(fd, 64 * MB) or 64 * MB)


def kept():
    """Space beyond the end."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
    n = 0
    for i in range(64):
        fd = os.open(f"k{i}", os.O_RDWR | os.O_CREAT, 0o644)
        if libc.fallocate(fd, 1, 0, MB) < 0:
            if ctypes.get_errno() == errno.EDQUOT:
                break
            raise OSError(ctypes.get_errno(), "fallocate")
        n += MB
    return n


def ranges():
    src = os.open("big0", os.O_RDONLY)
    n = 0
    for i in range(16):
        fd = os.open(f"r{i}", os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            n += os.copy_file_range(src, fd, 4 * MB, 0, 0)
        except OSError as e:
            if e.errno != errno.EDQUOT:
                raise
    return n


def unlinked():
    """Files without a name that are open."""
    n = 0
    fds = []
    for i in range(16):
        fd = os.open(f"u{i}", os.O_RDWR | os.O_CREAT, 0o644)
        n += fill(fd, 4 * MB)
        os.unlink(f"u{i}")
        fds.append(fd)
    return n


def unnamed():
    n = 0
    fds = []
    for _ in range(16):
        fd = os.open(".", os.O_RDWR | os.O_TMPFILE, 0o644)
        n += fill(fd, 4 * MB)
        fds.append(fd)
    return n


def mapped():
    """Files without a name that are mapped alone."""
    n = 0
    maps = []
    for i in range(16):
        fd = os.open(f"m{i}", os.O_RDWR | os.O_CREAT, 0o644)
        got = fill(fd, 4 * MB)
        n += got
        if got:
            maps.append(mmap.mmap(fd, got))
        os.close(fd)
        os.unlink(f"m{i}")
    return n


def names():
    """Links and renames: a file counts once, and what is replaced is given back."""
    n = 0
    for i in range(16):
        fd = os.open("n", os.O_RDWR | os.O_CREAT, 0o644)
        n += fill(fd, 4 * MB)
        os.close(fd)
        os.link("n", f"n{i}")
        os.rename("n", f"o{i}")
    return n


def replaced():
    """The same name again and again, which takes no more."""
    n = 0
    for i in range(16):
        fd = os.open("p.new", os.O_RDWR | os.O_CREAT, 0o644)
        n += fill(fd, 4 * MB)
        os.close(fd)
        os.rename("p.new", "p")
    return n


def attributes():
    n = 0
    for i in range(4096):
        name = f"x{i}"
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o644))
        try:
            os.setxattr(name, "user.fill", b"v" * 2000)
        except OSError as e:
            if e.errno != errno.EDQUOT:
                raise
            break
        n += 2000
    return n


def marks():
    """Each step keeps what is changed next."""
    n = 0
    size = 2 * MB
    fd = os.open("s", os.O_RDWR | os.O_CREAT, 0o644)
    n += fill(fd, size)
    os.close(fd)
    for i in range(24):
        try:
            os.setxattr(".", "user.wardfs.mark", b"")
            fd = os.open("s", os.O_RDWR)
            os.pwrite(fd, bytes([i]) * size, 0)
            os.close(fd)
        except OSError as e:
            if e.errno != errno.EDQUOT:
                raise
            break
        n += size
    return n


def threads():
    got = []

    def one(i):
        got.append(write(f"th{i}"))

    all_of = [threading.Thread(target=one, args=(i,)) for i in range(16)]
    for t in all_of:
        t.start()
    for t in all_of:
        t.join()
    return sum(got)


for way in sys.argv[1:]:
    print(way, globals()[way](), flush=True)
