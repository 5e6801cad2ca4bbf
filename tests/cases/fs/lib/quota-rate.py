# SPDX-License-Identifier: Apache-2.0
# Part of ../quota-rate.sh.
import errno, mmap, os, signal, sys, time
back, slow, free = sys.argv[1], sys.argv[2] == "1K/h", sys.argv[2] == "none"
N = 8
SIZE = 65536
# What may be written at once; the rate itself gives next to nothing while this runs.
MOST = 1 << 20


def written(*names):
    size = 0
    for name in names:
        try:
            size += os.stat(back + "/slow/" + name).st_size
        except FileNotFoundError:
            pass
    return size


def await_(what, text):
    for _ in range(12000):
        if what():
            return
        time.sleep(0.01)
    sys.exit("FAIL: " + text)


def start(job):
    pid = os.fork()
    if not pid:
        job()
        os._exit(0)
    return pid


def waits(pid):
    if not slow:
        return False
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rpartition(")")[2].split()[0] in "SD"


def ended(pid):
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if not os.WIFSIGNALED(status):
        sys.exit("FAIL: not killed: %d" % status)


def write(name):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT)
    os.write(fd, b"x" * SIZE)


def killed_while_waiting(jobs, made):
    """Starts the jobs side by side; kills each that waits; else each has to end."""
    pids = [start(job) for job in jobs]
    await_(lambda: all(os.path.exists(back + "/slow/" + f) for f in made), "not all began")
    for pid in pids:
        done = []
        await_(lambda: done or (ended(pid) and (done.append(1) or True)) or waits(pid), "neither ends nor waits")
        if not done:
            kill(pid)


# One is written, which all others wait for.
write("slow/first")
assert written("first") == SIZE

# Side by side, killed.
names = ["side-%d" % i for i in range(N)]
killed_while_waiting([lambda n=n: write("slow/" + n) for n in names], names)
side = written(*names)

# One after the other, killed; the debt of those before stays.
names = ["row-%d" % i for i in range(N)]
for name in names:
    killed_while_waiting([lambda: write("slow/" + name)], [name])
row = written(*names)

# By copy_file_range(2).
with open("from", "wb") as f:
    f.write(b"y" * SIZE * N)


def copy():
    a, b = os.open("from", os.O_RDONLY), os.open("slow/copy", os.O_WRONLY | os.O_CREAT)
    while os.copy_file_range(a, b, SIZE * N):
        pass


killed_while_waiting([copy], ["copy"])
copied = written("copy")


# A program that signals itself all the time.
class Enough(Exception):
    pass


def signalled():
    left = [100]

    def on_alarm(*_):
        left[0] -= 1
        if not left[0]:
            raise Enough

    signal.signal(signal.SIGALRM, on_alarm)
    fd = os.open("slow/signalled", os.O_WRONLY | os.O_CREAT)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        for _ in range(N):
            os.write(fd, b"x" * SIZE)
    except Enough:
        pass


os.waitpid(start(signalled), 0)
signals = written("signalled")

# What a mapping writes nobody sees: there is none beneath a rate.
fd = os.open("slow/first", os.O_RDWR)
mapped = 0
try:
    with mmap.mmap(fd, SIZE, mmap.MAP_SHARED) as m:
        m[:] = b"z" * SIZE
    mapped = SIZE
except OSError as e:
    if e.errno != errno.ENODEV:
        raise
with open("unrated", "w+b") as f:
    f.write(b"z" * SIZE)
    f.flush()
    with mmap.mmap(f.fileno(), SIZE, mmap.MAP_SHARED) as m:
        m[:] = b"y" * SIZE
# A private one is as good as ever.
with mmap.mmap(fd, SIZE, mmap.MAP_PRIVATE) as m:
    assert bytes(m[:1]) == (b"z" if free else b"x")

all_of_it = {"side": side, "row": row, "copy": copied, "signals": signals, "mapped": mapped}
if not slow:
    # The controls: all of it is written.
    assert all_of_it == {
        "side": N * SIZE, "row": N * SIZE, "copy": N * SIZE, "signals": N * SIZE, "mapped": SIZE * free
    }, all_of_it
    sys.exit(0)
if sum(all_of_it.values()) > MOST:
    sys.exit("FAIL: faster than the rate: %r" % all_of_it)

# Everything else goes on while some wait.
names = ["on-%d" % i for i in range(N)]
pids = [start(lambda n=n: write("slow/" + n)) for n in names]
await_(lambda: all(os.path.exists(back + "/slow/" + n) for n in names), "not all began")
with open("slow/there") as f:
    assert f.read() == "mine\n"
os.mkdir("slow/dir")
os.rename("slow/dir", "slow/dir2")
with open("fast", "wb") as f:
    f.write(b"x" * 1000000)
waiting = [p for p in pids if os.waitpid(p, os.WNOHANG) == (0, 0)]
if len(waiting) != N:
    sys.exit("FAIL: %d of %d wait" % (len(waiting), N))
for p in pids:
    kill(p)
