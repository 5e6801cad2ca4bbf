# SPDX-License-Identifier: Apache-2.0
# Part of ../deep.sh.
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2
MAX = 2048  # WARD_NODE_DEPTH_MAX


def chain(name, n):
    """n directories beneath each other: descriptor of the lowest."""
    os.mkdir(name)
    fd = os.open(name, os.O_RDONLY)
    for _ in range(n - 1):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    return fd


def refused(f):
    try:
        f()
    except OSError as e:
        assert e.errno == errno.ENAMETOOLONG, e
        return
    raise SystemExit("not refused")


def exchange(name, dirfd, name2):
    if libc.renameat2(-100, name.encode(), dirfd, name2.encode(), EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def makes(fd):
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=fd))
    os.unlink("file", dir_fd=fd)


low = chain("a", 1500)
lower = chain("b", 1000)
short = chain("c", 400)
# The control: what fits is moved, with what is beneath, and back; what is beneath stays usable.
os.rename("c", "moved", dst_dir_fd=low)
makes(short)
os.rename("moved", "c", src_dir_fd=low)
makes(short)
# 2500 levels.
refused(lambda: os.rename("b", "moved", dst_dir_fd=low))
refused(lambda: os.rename("a", "moved", dst_dir_fd=lower))
os.mkdir("place", dir_fd=low)
refused(lambda: exchange("b", low, "place"))
exchange("c", low, "place")
exchange("c", low, "place")
for fd in low, lower, short:
    makes(fd)
# Nothing was moved, and nothing is lost: piece by piece it comes no deeper either.
assert sorted(os.listdir(".")) == ["a", "b", "c"], os.listdir(".")
os.rename("c", "moved", dst_dir_fd=low)
refused(lambda: os.rename("b", "moved", dst_dir_fd=short))
# As deep as mkdir(2) gets.
fd, n = short, 1500 + 400
try:
    while n < MAX + 10:
        os.mkdir("d", dir_fd=fd)
        fd, n = os.open("d", os.O_RDONLY, dir_fd=fd), n + 1
except OSError as e:
    assert e.errno == errno.ENAMETOOLONG, e
assert MAX - 2 <= n <= MAX + 2, n
makes(lower)

# Above files that are open for writing: between two names with the same rules, and between two
# whose rules differ and give the same.
os.makedirs("x/d/d")
files = [open("x/d/d/%d" % i, "w") for i in range(100)]
for way in ("x", "y"), ("y", "x"), ("x", "p"), ("p", "q"), ("q", "y"):
    os.rename(*way)
for f in files:
    f.write("text")
    f.close()
assert os.path.getsize("y/d/d/99") == 4
