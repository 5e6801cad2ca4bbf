# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-first.sh; runs inside. "inside", "others": looks for the table of what wardfs-init
# executes in all that it can open of /proc, and by descriptor. The control is such a table of its
# own. "closed": makes itself non-dumpable, then executes.
import ctypes, mmap, os, sys

PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4
NAME = "wardfs-execs"


def mentions():
    found = set()
    for pid in [p for p in os.listdir("/proc") if p.isdigit()] + ["self", "1", "2", "3", "4"]:
        for what in ("maps", "smaps", "numa_maps"):
            try:
                with open(f"/proc/{pid}/{what}", encoding="ascii", errors="replace") as f:
                    if NAME in f.read():
                        found.add((os.path.realpath(f"/proc/{pid}"), "map"))
            except OSError:
                pass
        for folder in ("fd", "map_files"):
            try:
                names = os.listdir(f"/proc/{pid}/{folder}")
            except OSError:
                continue
            for name in names:
                try:
                    if NAME in os.readlink(f"/proc/{pid}/{folder}/{name}"):
                        found.add((os.path.realpath(f"/proc/{pid}"), "fd"))
                except OSError:
                    pass
    return found


if sys.argv[1] == "closed":
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 and prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0
    os.execv("/bin/true", ["closed", "memory"])
before = mentions()
fd = os.memfd_create(NAME)
os.ftruncate(fd, 4096)
own = mmap.mmap(fd, 4096)
me = os.path.realpath("/proc/self")
print("control", "found" if {(me, "map"), (me, "fd")} <= mentions() else "lost")
print(before or "nothing")
