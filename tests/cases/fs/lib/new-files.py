# SPDX-License-Identifier: Apache-2.0
"""Part of ../new-files.sh: new-files.py SECONDS BACKING: writes to new and emptied files, while
others read them and map them. What is written is what the next look finds."""
import mmap
import os
import resource
import signal
import sys
import time

PAGE = 4096
SIZE = 40 * PAGE
READERS = 2
seconds, backing = int(sys.argv[1]), sys.argv[2]


def check(what, found, want):
    if found != want:
        sys.exit(f"{what}: {found[:40]!r}, not {want[:40]!r}" if isinstance(found, bytes) else
                 f"{what}: {found}, not {want}")


def host(name):
    with open(f"{backing}/{name}", "rb") as f:
        return f.read()


def crowd(look):
    """Processes that look all the time, until they are killed."""
    pids = []
    for _ in range(READERS):
        pid = os.fork()
        if pid == 0:
            try:
                while True:
                    look()
            finally:
                os._exit(1)
        pids.append(pid)
    return pids


def away(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        check("a reader", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), -signal.SIGKILL)


def new(name, flags=0):
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags, 0o644)


# The host sees each write at once, and sizes and times are right.
fd = new("new")
for n in range(1, 6):
    os.write(fd, b"x" * 1000)
    check("size inside", os.stat("new").st_size, 1000 * n)
    check("on the host", host("new"), b"x" * 1000 * n)
seen, below = os.fstat(fd), os.stat(f"{backing}/new")
check("time", seen.st_mtime_ns, below.st_mtime_ns)
check("read at once", open("new", "rb").read(), b"x" * 5000)
os.ftruncate(fd, 100)
check("truncated", open("new", "rb").read(), b"x" * 100)
os.pwrite(fd, b"end", 3 * PAGE - 1)
check("behind a hole", open("new", "rb").read(), b"x" * 100 + bytes(3 * PAGE - 101) + b"end")
os.close(fd)

# Other ways to write: appended, in vectors, from another file, from a pipe, up to a limit.
fd = new("ways", os.O_APPEND)
os.write(fd, b"one ")
os.pwrite(fd, b"two ", 0)
check("appended", host("ways"), b"one two ")
fd = new("ways")
os.writev(fd, [b"one ", b"two "])
with open("source", "wb") as f:
    f.write(bytes(range(256)) * 512)
source = os.open("source", os.O_RDONLY)
while os.sendfile(fd, source, None, 1 << 20):
    pass
check("sent", host("ways"), b"one two " + bytes(range(256)) * 512)
fd = new("ways")
check("spliced", os.copy_file_range(source, fd, 5000, 0, 0), 5000)
check("copied", host("ways"), (bytes(range(256)) * 512)[:5000])
ends = os.pipe()
os.write(ends[1], b"by a pipe")
os.lseek(fd, 0, os.SEEK_SET)
check("by a pipe", os.splice(ends[0], fd, 9), 9)
check("what came by it", host("ways")[:10], b"by a pipe" + bytes([9]))
mapped = mmap.mmap(source, SIZE // 2, mmap.MAP_SHARED, mmap.PROT_READ)
check("from a mapping", os.pwrite(fd, memoryview(mapped)[100:9000], 1), 8900)
check("what came from it", host("ways")[1:8901], mapped[100:9000])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10000, limit[1]))
check("up to the limit", os.pwrite(fd, b"l" * 5000, 8000), 2000)
resource.setrlimit(resource.RLIMIT_FSIZE, limit)
os.close(fd)

# Not for files that are read through the same handle, had content, or are open elsewhere.
fd = os.open("both", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
os.write(fd, bytes(PAGE))
shared = mmap.mmap(fd, PAGE)
shared[:4] = b"kept"
shared.flush()
check("a shared mapping", host("both")[:4], b"kept")
with open("held", "wb") as f:
    f.write(b"first")
holder = os.open("held", os.O_RDWR)
fd = new("held")
os.write(fd, b"second")
check("held", os.pread(holder, 100, 0), b"second")
os.close(fd)

# Rewritten in place, while others read and map it.
fd = new("turn")
os.write(fd, bytes(SIZE))
again = os.open("turn", os.O_RDONLY)
looked = mmap.mmap(again, SIZE, mmap.MAP_SHARED, mmap.PROT_READ)


def look():
    reader = os.open("turn", os.O_RDONLY)
    os.pread(reader, SIZE, 0)
    os.close(reader)
    looked[::PAGE]


pids, count, end = crowd(look), 0, time.monotonic() + seconds
while time.monotonic() < end:
    count += 1
    content = bytes([count % 255 + 1]) * SIZE
    os.pwrite(fd, content, 0)
    check("mapped", looked[:], content)
    check("read", os.pread(again, SIZE, 0), content)
away(pids)

# Growing, while others read its end. What they find is never zeros in place of what was written.
log = new("log", os.O_APPEND)


def follow():
    reader = os.open("log", os.O_RDONLY)
    found = os.pread(reader, SIZE * 100, 0)
    os.close(reader)
    if found.strip(b"a"):
        os._exit(2)


pids, size, end = crowd(follow), 0, time.monotonic() + seconds
reader = os.open("log", os.O_RDONLY)
while time.monotonic() < end:
    if size > SIZE * 50:
        size = 0
        os.ftruncate(log, 0)
    size += os.write(log, b"a" * (size % 777 + 1))
    tail = os.pread(reader, 2000, max(0, size - 2000))
    check("the end", tail, b"a" * min(size, 2000))
away(pids)
check("the log on the host", host("log"), b"a" * size)
print(count, "writes", file=sys.stderr)
