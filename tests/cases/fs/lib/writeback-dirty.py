# SPDX-License-Identifier: Apache-2.0
# Part of ../writeback.sh.
import mmap, os, subprocess, sys, threading, time
end = time.monotonic() + (60 if os.environ.get("WARD_LONG") else 3)
SIZE = 1 << 20
done = {}
def times(name):
    done[name] = done.get(name, 0) + 1
    return time.monotonic() < end or done[name] == 1  # once, however late it begins
def dirty(k):
    """Stores, msync, munmap and fork take the lock of this program's memory, and wait for the pages."""
    fd = os.open("mapped-%d" % k, os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, SIZE)
    n = 0
    while times("dirty-%d" % k):
        n = (n + 1) % 251
        m = mmap.mmap(fd, SIZE)
        for at in range(0, SIZE, 4096):
            m[at] = n
        if n % 2:
            m.flush()
        m.close()
    os.fsync(fd)
    for at in (0, SIZE - 4096):
        assert os.pread(fd, 1, at) == bytes([n]), "what was stored is not there"
    with open(sys.argv[1] + "/mapped-%d" % k, "rb") as f:
        assert f.read(1) == bytes([n]), "nor on the host"
def names(k):
    i = 0
    while times("names-%d" % k):
        i += 1
        p = "n-%d-%d" % (k, i % 50)
        with open(p, "wb") as f:
            f.write(b"x")
        with open(p, "rb") as f:
            f.read()
        try:
            open("closed")
            raise SystemExit("allowed")
        except PermissionError:
            pass
        os.rename(p, p + "r")
        os.unlink(p + "r")
def executed():
    while times("executed"):
        subprocess.check_call(["./prog"])
threads = [threading.Thread(target=dirty, args=(k,), daemon=True) for k in range(2)]
threads += [threading.Thread(target=names, args=(k,), daemon=True) for k in range(2)]
threads.append(threading.Thread(target=executed, daemon=True))
failed = []
threading.excepthook = lambda a: failed.append(a)
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not failed, failed[0].exc_value
# all of them came round
assert len(done) == 5 and min(done.values()) > 1, done
