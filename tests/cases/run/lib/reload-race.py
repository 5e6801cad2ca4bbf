# SPDX-License-Identifier: Apache-2.0
# Part of ../reload-race.sh.
import errno, json, os, random, subprocess, sys, threading, time
wardfs, session, mnt = sys.argv[1:]
seconds = 60 if os.environ.get("WARD_LONG") else 3
# What is in force: even while a reload is under way. Who looked while it did not change, and found
# it even before and after, was under one policy.
turn = [0]  # 4n: pa holds, 4n + 2: pb holds; odd: under way
stop = threading.Event()
wrong = []
counts = {}

def can(f):
    try:
        return f()
    except OSError as e:
        return errno.errorcode[e.errno]

def settled(name, f, for_a, for_b):
    """f's answer under one policy must be one of for_a, or of for_b."""
    before = turn[0]
    got = can(f)
    after = turn[0]
    if before != after or before % 2:
        return
    counts[name, before % 4] = counts.get((name, before % 4), 0) + 1
    right = for_a if before % 4 == 0 else for_b
    if got not in right:
        wrong.append((name, "pa" if before % 4 == 0 else "pb", got))

def read(p):
    with open(p, "rb") as f:
        return f.read()

def work(f):
    while not stop.is_set() and not wrong:
        f(random.choice("1234"))

def names(k):
    settled("stat a", lambda: bool(os.stat(mnt + "/a/sub/" + k)), ("ENOENT",), (True,))
    settled("stat b", lambda: bool(os.stat(mnt + "/b/sub/" + k)), (True,), ("ENOENT",))
    settled("list", lambda: tuple(sorted(os.listdir(mnt))), (("b", "c"),), (("a", "c"),))
    settled("list a", lambda: len(os.listdir(mnt + "/a/sub")), ("ENOENT",), (4,))
def content(k):
    settled("read a", lambda: read(mnt + "/a/sub/" + k), ("ENOENT",), (b"text a%s\n" % k.encode(),))
    settled("read b", lambda: read(mnt + "/b/sub/" + k), (b"text b%s\n" % k.encode(),), ("ENOENT",))
    settled("write c", lambda: os.close(os.open(mnt + "/c/sub/" + k, os.O_WRONLY)), ("EACCES",), (None,))
def held(k):
    # Opened while pb holds, used when pa does. A handle once taken back stays so.
    fd = can(lambda: os.open(mnt + "/c/sub/" + k, os.O_RDWR))
    if not isinstance(fd, int):
        return
    begun = turn[0]
    for _ in range(2000):
        settled("write held", lambda: os.pwrite(fd, b"t", 0), ("EACCES", "EIO"), (1, "EACCES", "EIO"))
        if turn[0] > begun + 2 or stop.is_set():
            break
        time.sleep(0.002)
    can(lambda: os.close(fd))  # of an inode that went bad: EIO, and closed all the same (close(2))
def moves(k):
    new = mnt + "/c/n%d" % threading.get_ident()
    settled("create", lambda: os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o644)), ("EACCES",), (None,))
    settled("rename into c", lambda: os.rename(new, mnt + "/c/sub/new" + k), ("EACCES", "ENOENT"), (None, "ENOENT"))
    can(lambda: os.unlink(new))
    can(lambda: os.unlink(mnt + "/c/sub/new" + k))

threads = [threading.Thread(target=work, args=(f,)) for f in (names, content, held, moves)]
for t in threads:
    t.start()
WHAT = ("stat a", "stat b", "list", "read a", "read b", "write c", "write held")

def unseen():
    """What nobody has found settled yet, and under which policy (0: pa, 2: pb)."""
    return [(name, k) for name in WHAT for k in (0, 2) if not counts.get((name, k))]

end, never = time.monotonic() + seconds, time.monotonic() + 400
n = 0
# At least so many, and until each was looked at under both, however slow the machine is.
while (time.monotonic() < end or n < 10 or unseen()) and time.monotonic() < never and not wrong:
    turn[0] += 1
    p = subprocess.run([wardfs, "policy", "reload", "--json", session, "./pb" if n % 2 == 0 else "./pa"],
                       capture_output=True, text=True)
    if p.returncode:
        wrong.append(("reload", p.returncode, p.stderr))
        break
    if not json.loads(p.stdout)["forgotten"]:
        wrong.append(("not forgotten", p.stdout))
    turn[0] += 1
    n += 1
    time.sleep(random.random() * 0.05)
stop.set()
for t in threads:
    t.join()
for w in wrong[:10]:
    print("FAIL:", w)
# Control: each was looked at under both.
for what in unseen():
    print("FAIL: never", *what)
    wrong.append(what)
print(n, "reloads", sum(counts.values()), "answers")
sys.exit(bool(wrong))
