# SPDX-License-Identifier: Apache-2.0
# Part of ../append-others.sh: one session holds files open for writing, the other one moves them.
import errno
import mmap
import os
import sys


def tell(word):
    print(word, flush=True)


def hear(word):
    got = sys.stdin.readline().strip()
    if got != word:
        sys.exit(f"FAIL: heard {got!r} instead of {word!r}")


def refused(what):
    try:
        what()
    except OSError as e:
        if e.errno != errno.EXDEV:
            sys.exit(f"FAIL: {e}, not EXDEV")
        return
    sys.exit("FAIL: allowed")


def first():
    """Holds: by a descriptor, by a mapping alone, and in a directory."""
    fds = [os.open(name, os.O_RDWR) for name in ("held", "linked", "d/e/held", "mapped", "swapped")]
    m = mmap.mmap(fds[3], 5)
    os.close(fds[3])
    reads = os.open("read", os.O_RDONLY)
    tell("open")
    hear("tried")
    os.pwrite(fds[0], b"EVIL!", 0)
    m[0:5] = b"EVIL!"
    for fd in (fds[0], fds[1], fds[2], fds[4], reads):
        os.close(fd)
    m.close()
    tell("closed")
    hear("moved")


def second():
    hear("open")
    refused(lambda: os.rename("held", "log/held"))
    refused(lambda: os.rename("mapped", "log/mapped"))
    refused(lambda: os.link("linked", "log/linked"))
    refused(lambda: os.rename("d", "log/d"))
    # The controls: what the other one reads, or has closed, and where the right stays.
    os.rename("read", "log/read")
    os.rename("held", "free/held")
    os.rename("free/held", "held")
    os.rename("d", "free/d")
    os.rename("free/d", "d")
    tell("tried")
    hear("closed")
    for name in ("held", "mapped"):
        os.rename(name, "log/" + name)
    os.link("linked", "log/linked")
    os.rename("d", "log/d")
    tell("moved")
    for name in ("held", "mapped", "linked", "d/e/held"):
        try:
            os.open("log/" + name, os.O_RDWR)
        except PermissionError:
            continue
        sys.exit(f"FAIL: log/{name} can be written anywhere")


def host():
    os.rename("held", "log/host")


{"host": host, "first": first, "second": second}[sys.argv[1]]()
