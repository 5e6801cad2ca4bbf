# SPDX-License-Identifier: Apache-2.0
# Part of ../users.sh: root, in the mount. Each user is a process that does as it is told.
import ctypes, errno, fcntl, os, signal, sys, threading, time

HOG, OTHER, ROOT = 4711, 4712, 0
ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class User:
    """A process with that uid; each call of do() runs there, and returns what the job returns."""

    def __init__(self, uid):
        self.asks, theirs = os.pipe()[::-1]
        answers, self.answers = os.pipe()[::-1]
        self.jobs = []
        self.pid = os.fork()
        if self.pid:
            os.close(theirs)
            os.close(answers)
            return
        os.close(self.asks)
        os.close(self.answers)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        os.setgroups([])
        os.setgid(uid or 0)
        os.setuid(uid)
        self.held = []
        while True:
            name = os.read(theirs, 100).decode()
            if not name:
                os._exit(0)
            os.write(answers, b"%d\n" % globals()[name](self))

    def do(self, job):
        os.write(self.asks, job.__name__.encode())
        return int(os.read(self.answers, 100))

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


# --- jobs ---


def open_many(user):
    """As many files as it gets, the number; or minus the error that is none of a lack."""
    for _ in range(1000):
        try:
            user.held.append(os.open("file", os.O_RDONLY))
        except OSError as e:
            return len(user.held) if e.errno == errno.ENFILE else -e.errno
    return len(user.held)


def open_some(user):
    try:
        for _ in range(50):
            user.held.append(os.open("file", os.O_RDONLY))
        os.listdir(".")
        os.stat("file")
        with open("of-%d" % os.getuid(), "w") as f:
            f.write("x")
        os.unlink("of-%d" % os.getuid())
    except OSError as e:
        return -e.errno
    return 0


def close_all(user):
    for fd in user.held:
        os.close(fd)
    user.held = []
    return 0


def wait_many(user):
    """Waits with many threads for a lock that root has: how many are refused, or minus another error."""
    fd = os.open("locked", os.O_RDWR)
    refused, wrong = [], []

    def wait():
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX)
        except OSError as e:
            (refused if e.errno == errno.ENOLCK else wrong).append(e.errno)

    threading.stack_size(64 << 10)
    for _ in range(300):
        threading.Thread(target=wait, daemon=True).start()
    # 300 threads, 256 places: no more may be left to be refused.
    for _ in range(6000):
        if wrong or len(refused) >= 44:
            break
        time.sleep(0.01)
    return -wrong[0] if wrong else len(refused)


def lock_many(user):
    """Single bytes, apart: how many it gets, or minus an error that is none of a lack."""
    fd = os.open("ranges", os.O_RDWR)
    user.held.append(fd)
    for n in range(10000):
        try:
            fcntl.lockf(fd, fcntl.LOCK_SH, 1, 2 * n)
        except OSError as e:
            return n if e.errno == errno.ENOLCK else -e.errno
    return 10000


def lock_some(user):
    fd = os.open("ranges", os.O_RDWR)
    user.held.append(fd)
    try:
        for n in range(20):
            fcntl.lockf(fd, fcntl.LOCK_EX, 1, 1000000 + 100 * os.getuid() + 2 * n)
    except OSError as e:
        return -e.errno
    return 0


# --- what is tested ---


def same(what, got, want):
    if got != want:
        sys.exit("FAIL: %s: %r instead of %r" % (what, got, want))


for name in "file", "locked", "ranges":
    with open(name, "w") as f:
        f.write("text\n")
    os.chmod(name, 0o666)

hogs = [User(HOG), User(HOG)]
other, root = User(OTHER), User(ROOT)

# Open files: two processes of one user take what they get.
counts = [h.do(open_many) for h in hogs]
if counts[0] < 100 or counts[1] < 0 or sum(counts) >= 1000:
    sys.exit("FAIL: open files: %r" % counts)
same("open files: another user", other.do(open_some), 0)
same("open files: root", root.do(open_some), 0)
# Returned room can be used again.
for h in hogs:
    h.do(close_all)
again = hogs[0].do(open_many)
if again < 100:
    sys.exit("FAIL: open files, again: %d" % again)
for user in hogs + [other, root]:
    user.do(close_all)

# Ranges of locks in one file.
n = hogs[0].do(lock_many)
if not 1000 < n < 8000:
    sys.exit("FAIL: ranges: %d" % n)
same("ranges: another user", other.do(lock_some), 0)
same("ranges: root", root.do(lock_some), 0)

# Waits for a lock: another user waits, and gets it.
fd = os.open("locked", os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX)
n = hogs[1].do(wait_many)
if n < 44:
    sys.exit("FAIL: waits: %d refused" % n)
waiter = os.fork()
if not waiter:
    os.setgid(OTHER)
    os.setuid(OTHER)
    mine = os.open("locked", os.O_RDWR)
    try:
        fcntl.lockf(mine, fcntl.LOCK_EX)
    except OSError as e:
        os._exit(e.errno)
    os._exit(0)
asleep = 0
while asleep < 20:
    ended, status = os.waitpid(waiter, os.WNOHANG)
    if ended:
        sys.exit("FAIL: waits: another user: %d" % os.waitstatus_to_exitcode(status))
    with open("/proc/%d/stat" % waiter) as f:
        asleep = asleep + 1 if f.read().rpartition(")")[2].split()[0] in "SD" else 0
    time.sleep(0.01)
for h in hogs:
    h.end()
fcntl.lockf(fd, fcntl.LOCK_UN)
same("waits: another user", os.waitstatus_to_exitcode(os.waitpid(waiter, 0)[1]), 0)
other.end()
root.end()
