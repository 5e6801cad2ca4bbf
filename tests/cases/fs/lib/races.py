# SPDX-License-Identifier: Apache-2.0
# Part of ../races.sh.
import ctypes, errno, os, random, sys, time
who = sys.argv[1]
end = time.monotonic() + (60 if os.environ.get("WARD_LONG") else 2)
OK = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EXDEV, errno.EACCES, errno.ENOTDIR,
      errno.EISDIR, errno.EINVAL, errno.ESTALE, errno.EMLINK}
def tries(f, *a):
    try:
        return f(*a)
    except OSError as e:
        assert e.errno in OK, (who, f, a, e)
def read(p):
    with open(p, "rb") as f:
        return f.read()
def swap():
    # vault holds the secret by an anchored rule; pub is free
    a, b = random.choice(("vault", "pub", "sub/x", "pub/y")), random.choice(("sub/x", "pub", "y", "pub/y"))
    tries(os.rename, a, b)
def peek():
    for p in ("vault", "pub", "sub/x", "pub/y", "y"):
        got = tries(read, p + "/secret")
        assert got is None or got != b"the secret\n", p
        tries(read, p + "/f")
        tries(os.stat, p + "/f")
def save():
    n = "t%d" % os.getpid()
    with open(n, "wb") as f:
        f.write(b"x" * random.choice((10, 5000)))
    tries(os.rename, n, "saved")
    got = tries(read, "saved")
    assert got is None or set(got) <= {ord("x")} and len(got) in (10, 5000), len(got)
def link():
    tries(os.link, "pub/f", "l%d" % random.randrange(4))
    tries(os.link, "saved", "ro/l%d" % random.randrange(4))
    for i in range(4):
        tries(os.unlink, "l%d" % i)
        tries(os.unlink, "ro/l%d" % i)
        try:
            with open("ro/fixed", "r+b"):
                raise SystemExit("a read-only file opened for writing")
        except OSError as e:
            assert e.errno in OK
def tree():
    n = "d%d" % random.randrange(3)
    tries(os.makedirs, n + "/e/f")
    def touch():
        with open(n + "/e/f/g", "ab"):
            pass
    tries(touch)
    tries(os.rename, n + "/e", n + "/h")
    tries(os.listdir, n)
    for p in ("/e/f/g", "/h/f/g"):
        tries(os.unlink, n + p)
    for p in ("/e/f", "/e", "/h/f", "/h", ""):
        tries(os.rmdir, n + p)
def modes():
    tries(os.chmod, "pub", random.choice((0, 0o700)))
    tries(read, "pub/f")
    tries(os.chmod, "pub", 0o700)
libc = ctypes.CDLL(None, use_errno=True)
def exchange():
    # two files that never change, and a directory with a symbolic link to another one
    for a, b in ((b"x/one", b"x/two"), (b"x/dir", b"x/sym")):
        if libc.renameat2(-100, a, -100, b, 2) < 0:
            e = ctypes.get_errno()
            assert e in OK, (a, b, e)
def settled():
    for p in ("x/one", "x/two"):
        with open(p, "rb") as f:
            ino, got = os.fstat(f.fileno()).st_ino, f.read()
        assert got in (b"one\n" * 3000, b"two\n" * 3000), (p, len(got), got[:8])
        assert inodes.setdefault(got, ino) == ino, (p, got[:4], ino, inodes)
    for p in ("x/dir/f", "x/sym/f"):
        got = tries(read, p)
        assert got in (None, b"in dir\n", b"in other\n"), (p, got)
inodes = {}
def write():
    # what is written after the name went to another file must not show in that
    try:
        fd = os.open("u", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as e:
        assert e.errno in OK, e
        return
    token = b"%d-%d\n" % (os.getpid(), n)
    for i in range(random.randrange(1, 6)):
        assert os.write(fd, token * 50) == len(token) * 50
    assert os.fstat(fd).st_nlink in (0, 1)
    os.lseek(fd, 0, 0)
    assert set(os.read(fd, 65536).split(b"\n")) == {token[:-1], b""}
    os.close(fd)
def unlink():
    got = tries(read, "u")
    # a file in the middle of being written ends in a whole number of writes
    assert got is None or len(set(got.split(b"\n"))) <= 2, got[-40:]
    tries(os.unlink, "u")
f = {"swap": swap, "peek": peek, "save": save, "link": link, "tree": tree, "modes": modes,
     "exchange": exchange, "settled": settled, "write": write, "unlink": unlink}[who]
n = 0
# However late this one begins.
while time.monotonic() < end or n == 0:
    f()
    n += 1
