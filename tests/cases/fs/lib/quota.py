# SPDX-License-Identifier: Apache-2.0
# Part of ../quota.sh.
import ctypes, errno, mmap, os, sys, time
back, control = sys.argv[1], sys.argv[2] == "free"
L = 1 << 20
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]

def call(r):
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
def fallocate(fd, mode, off, n):
    call(libc.fallocate(fd, mode, off, n))
def exchange(a, b):
    call(libc.renameat2(-100, a.encode(), -100, b.encode(), 2))
def refused(want, what, *args):
    if control:
        what(*args)
        return
    try:
        what(*args)
    except OSError as e:
        if e.errno != want:
            raise SystemExit("FAIL: %s, not %s" % (e, errno.errorcode[want]))
        return
    raise SystemExit("FAIL: allowed: %s %s" % (what, args))
def same(a, b):
    if not control and a != b:
        raise SystemExit("FAIL: %r is not %r" % (a, b))
def write(path, n, flags=os.O_WRONLY | os.O_CREAT | os.O_APPEND):
    fd = os.open(path, flags)
    try:
        return os.write(fd, b"x" * n)
    finally:
        os.close(fd)
def fill(path):
    """As much as fits, up to three times the quota."""
    fd, have = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 0
    while have < 3 * L:
        try:
            have += os.write(fd, b"x" * 60000)
        except OSError as e:
            if e.errno != errno.EDQUOT or control:
                raise
            break
    os.close(fd)
    return have
def room(at="."):
    n = fill(at + "/probe")
    if control and n < 3 * L:
        raise SystemExit("FAIL: control: %d" % n)
    os.unlink(at + "/probe")
    return n
def soon(n, at="."):
    """So much is left: never more, and not less once RELEASE and FORGET, for which no system call waits, are there."""
    for _ in range(600):
        got = room(at)
        if got == n or control:
            return
        if got > n:
            break
        time.sleep(0.05)
    raise SystemExit("FAIL: %d, and not %d in the end" % (got, n))
def create(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL))

soon(L)
soon(L)
st = os.statvfs(".")
same(st.f_blocks * st.f_frsize, L)
same(st.f_bfree * st.f_frsize, L)

# written, cut, cut by opening
write("a", 1000)
soon(L - 1000)
os.truncate("a", 400)
soon(L - 400)
write("a", 7, os.O_WRONLY | os.O_TRUNC)
soon(L - 7)
# made larger without writing
os.truncate("a", 5000)
soon(L - 5000)
refused(errno.EDQUOT, os.truncate, "a", 2 * L)
if not control:
    same(os.stat("a").st_size, 5000)
fd = os.open("a", os.O_RDWR)
refused(errno.EDQUOT, os.ftruncate, fd, L + 1)
# written beyond a hole
os.ftruncate(fd, 0)
os.pwrite(fd, b"y", 99999)
soon(L - 100000)
if not control:
    refused(errno.EDQUOT, os.pwrite, fd, b"y", L)
os.ftruncate(fd, 10)
# space, within and beyond the end; holes give nothing back
fallocate(fd, 0, 0, 3000)
soon(L - 3000)
fallocate(fd, 1, 0, 50000)
same(os.fstat(fd).st_size, 3000)
soon(L - 50000)
refused(errno.EDQUOT, fallocate, fd, 1, 0, L + 1)
refused(errno.EDQUOT, fallocate, fd, 0, 0, L + 1)
os.ftruncate(fd, 3000)
fallocate(fd, 3, 0, 3000)
os.ftruncate(fd, 2000)
soon(L - 2000)
# a mapping makes nothing larger
os.ftruncate(fd, 8192)
m = mmap.mmap(fd, 8192)
m[:] = b"m" * 8192
m.flush()
soon(L - 8192)
m.close()
os.close(fd)
os.unlink("a")
soon(L)

# what was there before: it counts by what is added; removed, it makes no room
write("old", 1000, os.O_WRONLY)
soon(L)
write("old", 10)
soon(L - 10)
os.unlink("old")
soon(L)
os.truncate("user", 0)
soon(L)
write("user", 200000)
soon(L)
os.unlink("user2")
soon(L)

# names: replaced, linked, without one
write("a", 1000), write("b", 500)
os.rename("a", "b")
soon(L - 1000)
os.link("b", "c")
soon(L - 1000)
os.unlink("b")
soon(L - 1000)
os.rename("c", "user3")
soon(L - 1000)
os.unlink("user3")
soon(L)
fd = os.open("a", os.O_CREAT | os.O_WRONLY)
os.write(fd, b"x" * 1000)
os.unlink("a")
soon(L - 1000)
os.write(fd, b"x" * 1000)
soon(L - 2000)
os.close(fd)
soon(L)
# mapped, when its last handle and its last name are gone
fd = os.open("a", os.O_CREAT | os.O_RDWR)
os.write(fd, b"x" * 4096)
m = mmap.mmap(os.dup(fd), 4096)
os.close(fd)
os.unlink("a")
for n in os.listdir("/proc/self/fd"):
    try:
        if os.readlink("/proc/self/fd/" + n).endswith("/a (deleted)"):
            os.close(int(n))
    except OSError:
        pass
time.sleep(0.2)
m[0:4] = b"live"
soon(L - 4096)
m.close()
soon(L)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
os.write(fd, b"x" * 1000)
soon(L - 1000)
call(libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, b"named", 0x400))
soon(L - 1000)
os.close(fd)
soon(L - 1000)
os.unlink("named")
soon(L)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
os.write(fd, b"x" * 1000)
os.close(fd)
soon(L)

# what is no content of a file
os.symlink("t" * 100, "s")
soon(L - 100)
os.unlink("s")
create("a")
os.setxattr("a", "user.x", b"v" * 500)
soon(L - 506)
os.setxattr("a", "user.x", b"v" * 5)
soon(L - 11)
os.removexattr("a", "user.x")
soon(L)
n = fill("big")
refused(errno.EDQUOT, os.setxattr, "a", "user.x", b"v")
refused(errno.EDQUOT, os.symlink, "t", "s")
os.unlink("big"), os.unlink("a")
soon(L)

# copied by the kernel: what fits, and then no more
src = os.open("user4", os.O_RDONLY)
dst = os.open("a", os.O_CREAT | os.O_RDWR)
same(os.copy_file_range(src, dst, 100000, 0, 0), 100000)
soon(L - 100000)
os.ftruncate(dst, L - 50)
same(os.copy_file_range(src, dst, 100, 0, L - 50), 50)
if not control:
    refused(errno.EDQUOT, os.copy_file_range, src, dst, 100, 0, L)
os.close(src), os.close(dst), os.unlink("a")
soon(L)

# holes of what was there: they are charged before a mapping can fill them
os.close(os.open("terabyte", os.O_RDONLY))
refused(errno.EDQUOT, lambda: os.close(os.open("terabyte", os.O_RDWR)))
soon(L)
fd = os.open("hole", os.O_RDWR)
soon(L - 100000)
m = mmap.mmap(fd, 100000)
m[:] = b"m" * 100000
m.close(), os.close(fd)
soon(L - 100000)
os.unlink("hole")
soon(L)

# others: what they add is theirs, what they cut off or remove of ours is given back
write("a", 1000)
with open(back + "/a", "ab") as f:
    f.write(b"h" * 5000)
soon(L - 1000)
write("a", 10)
soon(L - 1010)
os.truncate(back + "/a", 500)
write("a", 1)
soon(L - 1)
write("b", 3000)
os.unlink(back + "/b")
for _ in range(600):
    if not os.path.exists("b"):
        break
    time.sleep(0.05)
soon(L - 1)
os.unlink("a")
soon(L)
# what they replace is given back as well, however it is found; what they put there is theirs
for way in os.stat, os.unlink, lambda b: (write("m", 10), os.rename("m", b)), lambda b: os.listdir("."):
    write("b", 3000)
    with open(back + "/h", "wb") as f:
        f.write(b"h" * 7000)
    os.rename(back + "/h", back + "/b")
    way("b")
    if os.path.exists("b"):
        mine = os.stat("b").st_size == 10
        soon(L - 10 if mine else L)
        os.unlink("b")
    soon(L)

# one in another: each counts in both; neither lets go what the other has not
write("in/a", 1000)
soon(100 * 1024 - 1000, "in")
soon(L - 1000)
refused(errno.EDQUOT, os.truncate, "in/a", 100 * 1024 + 1)
n = fill("big")
same(n, L - 1000)
refused(errno.EDQUOT, write, "in/a", 1)
st = os.statvfs("in")
same(st.f_blocks * st.f_frsize, 100 * 1024)
same(st.f_bfree, 0)
os.unlink("big")
soon(L - 1000)
# nothing comes from one to the other but by being copied
create("out")
for what, args in (
        (os.rename, ("in/a", "b")), (os.link, ("in/a", "b")), (os.rename, ("out", "in/b")),
        (os.link, ("out", "in/b")), (exchange, ("out", "in/a")), (os.rename, ("in", "in2")),
        (os.rename, ("up", "up2"))):
    if not control:
        refused(errno.EXDEV, what, *args)
os.rename("in/a", "in/b"), os.link("in/b", "in/c")
os.unlink("in/b"), os.unlink("in/c"), os.unlink("out")
soon(L)

# names
for i in range(3):
    create("few/%d" % i)
for what, args in (
        (create, ("few/x",)), (os.mkdir, ("few/d",)), (os.symlink, ("t", "few/s")),
        (os.mkfifo, ("few/p",)), (os.link, ("few/0", "few/l")),
        (os.open, ("few", os.O_TMPFILE | os.O_RDWR))):
    refused(errno.EDQUOT, what, *args)
if not control:
    same(os.statvfs("few").f_files, 3)
    same(os.statvfs("few").f_ffree, 0)
    os.rename("few/0", "few/00")
    os.rename("few/00", "few/1")
    os.link("few/1", "few/l")
    refused(errno.EDQUOT, create, "few/x")
    os.unlink("few/l")
    os.mkdir("few/d")
    refused(errno.EDQUOT, create, "few/x")
    os.rmdir("few/d")
    os.unlink("few/was")  # there before: no room by that
    create("few/x")
    refused(errno.EDQUOT, create, "few/y")

# one file
fd = os.open("one/f", os.O_CREAT | os.O_WRONLY)
os.write(fd, b"x" * 10000)
same(os.write(fd, b"x" * 1000), 240)
refused(errno.EFBIG, os.write, fd, b"x")
refused(errno.EFBIG, os.ftruncate, fd, 10241)
os.close(fd)
write("one/large", 10, os.O_WRONLY)
refused(errno.EFBIG, write, "one/large", 1)
os.truncate("one/large", 10240)
refused(errno.EFBIG, write, "one/large", 1)
# at its end only, and as much as fits
if not control:
    write("log/l", 100)
    n = fill("big")
    os.truncate("big", n - 30)
    fd = os.open("log/l", os.O_WRONLY | os.O_APPEND)
    same(os.write(fd, b"x" * 100), 30)
    refused(errno.EDQUOT, os.write, fd, b"x")
