# SPDX-License-Identifier: Apache-2.0
# Part of ../races-host.sh.
import errno, os, random, sys, time
begin = time.monotonic()
end = begin + (60 if os.environ.get("WARD_LONG") else 2)
OK = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EACCES, errno.ENOTDIR, errno.ESTALE,
      errno.ELOOP, errno.EISDIR, errno.EXDEV, errno.EINVAL, errno.EIO}
def tries(f, *a):
    try:
        return f(*a)
    except OSError as e:
        assert e.errno in OK, (f, a, e)
def read(p):
    with open(p, "rb") as f:
        return f.read()
def write(p, how):
    fd = os.open(p, how, 0o644)
    os.write(fd, b"inside\n")
    os.close(fd)
def spin(p):
    os.mkdir(p)
    os.rmdir(p)
got, n = set(), 0
# However slow the machine is: some rounds, something was read, and the swapping was there all the
# while.
while time.monotonic() < end or n < 6 or not any(got) or not os.path.getsize(sys.argv[1]):
    assert time.monotonic() < begin + 240, (n, got)
    who = "%d-%d" % (os.getpid(), n % 3)
    got.add(tries(read, "d/f"))
    got.add(tries(read, "d/deep/f"))
    tries(write, "d/f", os.O_WRONLY | os.O_TRUNC)
    tries(write, "d/new" + who, os.O_WRONLY | os.O_CREAT)
    tries(write, "d/f", os.O_WRONLY | os.O_APPEND)
    tries(os.chmod, "d/f", random.choice((0o600, 0o644)))
    tries(os.rename, "d/new" + who, "d/old" + who)
    tries(os.link, "d/f", "d/l" + who)
    tries(os.unlink, "d/l" + who)
    tries(os.unlink, "d/old" + who)
    tries(spin, "d/sub" + who)
    tries(os.listdir, "d")
    tries(os.utime, "d/f")
    tries(os.truncate, "d/f", 7)
    n += 1
bad = [g for g in got if g and b"outside" in g]
assert not bad, bad
