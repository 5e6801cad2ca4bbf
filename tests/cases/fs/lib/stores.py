# SPDX-License-Identifier: Apache-2.0
"""stores.py BACKING: what is stored through a mapping shows in the times of the file as soon as the
program has closed it, or written it to disk."""
import mmap
import os
import sys
import time


def times(path):
    s = os.stat(path)
    return s.st_mtime_ns, s.st_ctime_ns


def stored(ends):
    """Maps the file, has its times looked at and kept, stores, ends it in one way, looks again."""
    fd = os.open("f", os.O_RDWR)
    with mmap.mmap(fd, 4096) as m:
        m[0] = 0
        m.flush()
        before = times("f")
        time.sleep(0.02)  # two ticks: the clock of times goes by them
        m[1] = (m[1] + 1) % 256
        if ends == "msync":
            m.flush()
        elif ends == "fsync":
            os.fsync(fd)
        elif ends == "fdatasync":
            os.fdatasync(fd)
    os.close(fd)
    after = times("f")
    if after == before or after != times(os.path.join(sys.argv[1], "f")):
        sys.exit(f"{ends}: {before} before, {after} after, "
                 f"{times(os.path.join(sys.argv[1], 'f'))} on the backing")


for way in ("close", "msync", "fsync", "fdatasync"):
    for _ in range(20):
        stored(way)
