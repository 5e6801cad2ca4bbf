# SPDX-License-Identifier: Apache-2.0
# Part of ../quota-parallel.sh.
import contextlib, errno, mmap, os, random, sys, time, traceback
back, rounds = sys.argv[1], int(sys.argv[2])
OUT, IN = 600000, 250000

def fill(path):
    fd, have = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 0
    while True:
        try:
            have += os.write(fd, b"x" * 50001)
        except OSError as e:
            if e.errno != errno.EDQUOT:
                raise
            break
    os.close(fd)
    os.unlink(path)
    return have

@contextlib.contextmanager
def opened(path, flags):
    fd = os.open(path, flags)
    try:
        yield fd
    finally:
        os.close(fd)

def mapped(path, mine):
    with opened(path, os.O_RDWR | os.O_CREAT) as fd:
        os.ftruncate(fd, max(os.fstat(fd).st_size, 4096))
        try:
            m = mmap.mmap(fd, 4096)
        except ValueError:
            # mmap asks for the size: a file that others name as well may have been cut by them
            if mine:
                raise
            return
        os.unlink(path)
    if mine:
        m[:4] = b"live"
    m.close()

def step(r, w, names):
    name = r.choice(names)
    what = r.randrange(12)
    if what == 0:
        os.unlink(name)
    elif what == 1:
        os.truncate(name, r.randrange(30000))
    elif what == 2:
        other = os.path.dirname(name) + "/%d-%d" % (w, r.randrange(4))
        os.rename(name, other)
    elif what == 3:
        os.link(name, os.path.dirname(name) + "/%d-l" % w)
    elif what == 4:
        mine = r.randrange(2)
        mapped(os.path.dirname(name) + "/%d-m" % w if mine else name, mine)
    elif what == 5:
        with opened(os.path.dirname(name), os.O_TMPFILE | os.O_RDWR) as fd:
            os.write(fd, b"t" * r.randrange(20000))
    elif what == 6:
        with opened(name, os.O_RDWR | os.O_CREAT) as fd:
            os.posix_fallocate(fd, 0, r.randrange(1, 20000))
    else:
        how = r.choice((0, os.O_APPEND, os.O_TRUNC))
        with opened(name, os.O_WRONLY | os.O_CREAT | how) as fd:
            if what == 7:
                os.unlink(name)
            for _ in range(r.randrange(4)):
                os.pwrite(fd, b"w" * r.randrange(1, 9000), r.randrange(20000))

def writer(w):
    r = random.Random(w)
    names = ["%s/%d-%d" % (d, w, i) for d in ("a", "in") for i in range(4)] + ["a/shared", "in/shared"]
    full = 0
    for _ in range(rounds):
        try:
            step(r, w, names)
        except OSError as e:
            if e.errno == errno.EDQUOT:
                full += 1
            elif e.errno not in (errno.ENOENT, errno.EEXIST, errno.ESTALE):
                raise
    return full

def there(d):
    """Bytes by apparent size; an entry that goes meanwhile is none. Only a lower bound while others write."""
    have = 0
    seen = set()
    for e in os.scandir(d):
        try:
            st = e.stat(follow_symlinks=False)
        except OSError:
            continue
        if st.st_ino not in seen:
            seen.add(st.st_ino)
            have += st.st_size
    return have

pids = []
for w in range(16):
    pid = os.fork()
    if not pid:
        full = 255
        try:
            full = min(writer(w), 100)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(full)
    pids.append(pid)
over, full = 0, 0
while pids:
    # while files move between two looks a sum may be wrong both ways: twice in a row is no accident
    over = over + 1 if there(back + "/in") > IN else 0
    if over > 20:
        sys.exit("FAIL: more than the quota is there")
    pid, status = os.waitpid(-1, os.WNOHANG)
    if pid:
        pids.remove(pid)
        code = os.waitstatus_to_exitcode(status)
        if code < 0 or code == 255:
            sys.exit("FAIL: a writer: %d" % code)
        full += code
if not full:
    sys.exit("FAIL: the quota was never met: this tests nothing")
# exactly: what is there, and what is left
have_in, have_out = there(back + "/in"), there(back + "/a")
if have_in > IN or have_in + have_out > OUT:
    sys.exit("FAIL: %d and %d are there" % (have_in, have_out))
want = min(IN - have_in, OUT - have_in - have_out)
for _ in range(600):
    left = fill("in/probe")
    if left == want:
        break
    time.sleep(0.05)
else:
    sys.exit("FAIL: %d are left, and not %d" % (left, want))
left = fill("a/probe")
if left != OUT - have_in - have_out:
    sys.exit("FAIL: outside %d are left, and not %d" % (left, OUT - have_in - have_out))
for d in ("a", "in"):
    for n in os.listdir(d):
        os.unlink(d + "/" + n)
for _ in range(600):
    left = fill("a/probe")
    if left == OUT:
        break
    time.sleep(0.05)
else:
    sys.exit("FAIL: %d are left at the end" % left)
