# SPDX-License-Identifier: Apache-2.0
# Part of ../locks.sh.
import fcntl, os, signal, sys, time
kind = sys.argv[1]
lock = fcntl.lockf if kind == "posix" else fcntl.flock
f = open("f", "r+b")
lock(f, fcntl.LOCK_EX)
pid = os.fork()
if not pid:
    g = open("f", "r+b")
    # a signal ends the wait
    class Alarm(Exception):
        pass
    def ring(*_):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        raise Alarm()
    signal.signal(signal.SIGALRM, ring)
    try:
        # again and again: the first may come before the wait
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        lock(g, fcntl.LOCK_EX)
        os._exit(3)
    except Alarm:
        pass
    # other requests go on meanwhile, and the release ends the second wait
    open("waiting", "w").close()
    lock(g, fcntl.LOCK_EX)
    os._exit(7)
for _ in range(6000):
    if os.path.exists("waiting"):
        break
    time.sleep(0.01)
else:
    raise SystemExit("the signal did not end the wait")
os.unlink("waiting")
time.sleep(0.1)
lock(f, fcntl.LOCK_UN)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
# closing any descriptor of a process ends its POSIX locks, closing this one its flock
lock(f, fcntl.LOCK_EX)
if kind == "posix":
    open("f", "r+b").close()
else:
    f.close()
pid = os.fork()
if not pid:
    g = open("f", "r+b")
    lock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os._exit(9)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
