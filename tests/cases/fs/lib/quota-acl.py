# SPDX-License-Identifier: Apache-2.0
# Part of ../quota-acl.sh: a default ACL of some KB, and what is made beneath it.
import errno, os, struct, sys, threading, time
limit, control = 1 << 20, sys.argv[1] == "free"
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"

def acl(n):
    entries = [(1, 7, 0xffffffff)] + [(2, 7, os.getuid())] * n + \
        [(4, 7, 0xffffffff), (16, 7, 0xffffffff), (32, 0, 0xffffffff)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)
def size(path):
    there = os.listxattr(path)
    return sum(len(n) + len(os.getxattr(path, n)) for n in (ACCESS, DEFAULT) if n in there)
def full(what, *args):
    """Whether the quota refuses."""
    try:
        what(*args)
    except OSError as e:
        if e.errno != errno.EDQUOT:
            raise
        return True
    return False
def room():
    fd, n = os.open("probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 0
    try:
        while n < 3 * limit:
            n += os.write(fd, b"x" * 60000)
    except OSError as e:
        if e.errno != errno.EDQUOT:
            raise
    os.close(fd)
    os.unlink("probe")
    return n
def soon(n):
    """So much is left: never more, and not less once RELEASE and FORGET, for which nobody waits, are there."""
    for _ in range(600):
        got = room()
        if control or got == n:
            return
        if got > n:
            break
        time.sleep(0.05)
    sys.exit("FAIL: room for %d bytes, not %d" % (got, n))
def clear():
    for name in os.listdir("d"):
        path = "d/" + name
        os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
    while kept:
        os.close(kept.pop())

kept = []
def file(name):
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
def unnamed(name):
    kept.append(os.open("d", os.O_TMPFILE | os.O_RDWR, 0o666))
def has(name):
    return size("/proc/self/fd/%d" % kept[-1] if kept else name)

os.mkdir("d")
os.setxattr("d", DEFAULT, acl(220))
own = size("d")
for make in file, os.mkdir, os.mkfifo, unnamed:
    soon(limit - own)
    total = own
    for i in range(1000):
        name = "d/%d" % i
        if full(make, name):
            break
        total += has(name)
    if control and total < limit * 3 // 2:
        sys.exit("FAIL: control: %s: %d bytes of ACLs" % (make.__name__, total))
    if not control and not limit * 9 // 10 < total <= limit:
        sys.exit("FAIL: %s: %d bytes of ACLs under a quota of %d" % (make.__name__, total, limit))
    clear()
soon(limit - own)
# what is made with it and loses it gives it back; a link has none
file("d/a")
soon(limit - own - size("d/a"))
os.removexattr("d/a", ACCESS)
os.symlink("t" * 10, "d/s")
soon(limit - own - 10)
clear()
# what is not made takes nothing
file("d/a")
for make in file, os.mkdir, os.mkfifo:
    try:
        make("d/a")
        sys.exit("FAIL: made twice")
    except FileExistsError:
        pass
soon(limit - own - size("d/a"))
clear()
# one changes the ACL while another makes files
ended = False
def change():
    while not ended:
        for n in 1, 220:
            full(os.setxattr, "d", DEFAULT, acl(n))
t = threading.Thread(target=change)
t.start()
try:
    for i in range(600):
        full(file, "d/%d" % i)
finally:
    ended = True
    t.join()
total = size("d") + sum(size("d/" + name) for name in os.listdir("d"))
soon(limit - total)
clear()
os.removexattr("d", DEFAULT)
soon(limit)
