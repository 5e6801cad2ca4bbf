# SPDX-License-Identifier: Apache-2.0
# Part of ../locks-many.sh.
import errno, fcntl, os, struct, sys

FILE_MAX, MAX = 8192, 32768  # WARD_LOCKS_FILE_MAX, WARD_LOCKS_MAX


def lock(fd, kind, start, n):
    """True: done; False: ENOLCK."""
    try:
        fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack("hhqqi4x", kind, 0, start, n, 0))
    except OSError as e:
        if e.errno != errno.ENOLCK:
            raise
        return False
    return True


def take(fd, limit, kind=fcntl.F_WRLCK):
    """Single bytes, none beside another."""
    n = 0
    while n < limit and lock(fd, kind, 2 * n, 1):
        n += 1
    return n


def near(n, bound):
    """Some room is left."""
    assert bound * 9 // 10 <= n <= bound, n


def free(fd):
    assert lock(fd, fcntl.F_UNLCK, 0, 0)


fd = os.open("f", os.O_RDWR | os.O_CREAT, 0o666)
if sys.argv[1] == "one":
    print(take(fd, int(sys.argv[2])))
    raise SystemExit
near(take(fd, 2 * FILE_MAX), FILE_MAX)
free(fd)
# One range, of which each unlock in the middle makes one more.
assert lock(fd, fcntl.F_WRLCK, 0, 0)
near(take(fd, 2 * FILE_MAX, fcntl.F_UNLCK), FILE_MAX)
free(fd)
if sys.argv[1] == "file":
    raise SystemExit
# What is locked and unlocked again and again is few, however often.
for i in range(2 * FILE_MAX // 50):
    for k in range(50):
        assert lock(fd, fcntl.F_WRLCK, 2 * k, 1), (i, k)
    for k in range(50):
        assert lock(fd, fcntl.F_UNLCK, 2 * k, 1), (i, k)
# Many files: all of them together.
fds, total = [fd], 0
while total <= MAX:
    fds.append(os.open("f%d" % len(fds), os.O_RDWR | os.O_CREAT, 0o666))
    n = take(fds[-1], 1000)
    total += n
    if n < 1000:
        break
# The others' are counted as up to twice as many.
assert MAX // 2 <= total <= MAX, total
for one in fds[1:]:
    os.close(one)
assert lock(fd, fcntl.F_WRLCK, 0, 1)
