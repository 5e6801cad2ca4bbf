# SPDX-License-Identifier: Apache-2.0
# Part of ../atime.sh.
import mmap
import os
import subprocess
import sys
import time

BACK = sys.argv[1]
SKIP = sys.argv[2:]
# CLOCK_REALTIME_COARSE (clock_gettime(2)), which Python does not name
COARSE = 5
OLD = 86400 * 10 ** 9


def tick(path):
    """until the kernel's coarse clock is past the times of the file. Since Linux 6.13 (current_time(), multigrain
    timestamps) these may be ahead of it for the better part of a tick, which a tick of the clock does not make good:
    a file that is read then has the time already that it is given, and is left alone."""
    st = os.lstat(path)
    past = max(st.st_atime_ns, st.st_ctime_ns, time.clock_gettime_ns(COARSE))
    for _ in range(60000):
        if time.clock_gettime_ns(COARSE) > past:
            return
        time.sleep(0.001)
    sys.exit("the clock stands still")


def atime(path):
    return os.lstat(path).st_atime_ns


def told(what, path, late=False):
    """what stat says is what it is on the backing; late: becomes"""
    if BACK == "-":
        return
    for _ in range(1200 if late else 1):
        here, there = atime(path), os.lstat(os.path.join(BACK, path)).st_atime_ns
        if here == there:
            return
        time.sleep(0.05)
    sys.exit(f"FAIL: {what}: {here} inside, {there} on the backing")


def check(what, path, read, late=False):
    if what in SKIP:
        return
    os.utime(path, ns=(OLD, OLD), follow_symlinks=False)
    assert atime(path) == OLD
    tick(path)
    read(path)
    told(what, path, late)
    print(what, "moved" if atime(path) != OLD else "kept")
    if what + " again" in SKIP:
        return
    tick(path)
    before = atime(path)
    read(path)
    told(what + " again", path, late)
    print(what, "again", "moved" if atime(path) != before else "kept")


def opened(flags, use):
    def read(path):
        fd = os.open(path, flags)
        try:
            use(fd)
            assert os.fstat(fd).st_size > 0
        finally:
            os.close(fd)
    return read


def mapped(fd):
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as m:
        assert m[0]


def spliced(fd):
    r, w = os.pipe()
    os.splice(fd, w, 5, 0)
    os.close(r)
    os.close(w)


def to(call):
    def use(fd):
        out = os.open("out", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            call(fd, out)
        finally:
            os.close(out)
            os.unlink("out")
    return use


def direct(fd):
    with mmap.mmap(-1, 4096) as m:
        os.preadv(fd, [m], 0)


def one(fd):
    assert os.read(fd, 1)


check("open", "open", opened(os.O_RDONLY, lambda fd: None))
check("read", "read", opened(os.O_RDONLY, one))
check("rdwr", "rdwr", opened(os.O_RDWR, lambda fd: os.pread(fd, 9, 3)))
check("noatime", "noatime", opened(os.O_RDONLY | os.O_NOATIME, one))
check("direct", "direct", opened(os.O_RDONLY | os.O_DIRECT, direct))
check("mmap", "mmap", opened(os.O_RDONLY, mapped))
check("splice", "splice", opened(os.O_RDONLY, spliced))
check("sendfile", "sendfile", opened(os.O_RDONLY, to(lambda fd, out: os.sendfile(out, fd, 0, 9))))
check("copy", "copy", opened(os.O_RDONLY, to(lambda fd, out: os.copy_file_range(fd, out, 9))), True)
check("exec", "exec", lambda path: subprocess.run(["./" + path], check=True))
check("readlink", "link", os.readlink)
check("list", "dir", os.listdir)
