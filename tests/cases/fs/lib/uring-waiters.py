# SPDX-License-Identifier: Apache-2.0
# Part of ../uring.sh.
import fcntl, os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
f = open("lock", "w+b")
fcntl.lockf(f, fcntl.LOCK_EX)
fcntl.flock(f, fcntl.LOCK_EX)
ready, go = os.pipe()
gate, shut = os.pipe()
pids = []
for i in range(60):
    pid = os.fork()
    if not pid:
        # all at once: most find no place, and those who have one keep it
        os.close(shut)
        os.read(gate, 1)
        with open("lock", "r+b") as g:
            os.write(go, b"x")
            (fcntl.lockf if i % 2 else fcntl.flock)(g, fcntl.LOCK_EX)
            os.close(os.open("got-%d" % i, os.O_CREAT | os.O_WRONLY))
        os._exit(0)
    pids.append(pid)
os.close(shut)
for _ in pids:
    os.read(ready, 1)
# requests of the same CPU, of every kind that has an answer
for i in range(300):
    with open("work", "w") as w:
        w.write("x" * 5000)
        os.fsync(w.fileno())
    os.rename("work", "done")
    assert os.stat("done").st_size == 5000
    os.listdir(".")
fcntl.lockf(f, fcntl.LOCK_UN)
fcntl.flock(f, fcntl.LOCK_UN)
for pid in pids:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert len([n for n in os.listdir(".") if n.startswith("got-")]) == 60
