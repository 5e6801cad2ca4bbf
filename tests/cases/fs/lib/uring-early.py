# SPDX-License-Identifier: Apache-2.0
# Part of ../uring.sh.
import fcntl, random, signal
f = open("lock", "w+b")
fcntl.flock(f, fcntl.LOCK_EX)
g = open("lock", "r+b")
class Alarm(Exception):
    pass
armed = False
def ring(*_):
    # once for each try: a second one may come before the timer is off
    global armed
    if armed:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise Alarm()
signal.signal(signal.SIGALRM, ring)
for i in range(400):
    try:
        armed = True
        # again and again: the first may come before the system call
        signal.setitimer(signal.ITIMER_REAL, random.randrange(1, 90) * 1e-6, 0.005)
        fcntl.flock(g, fcntl.LOCK_EX)
        raise SystemExit("FAIL: locked twice")
    except Alarm:
        pass
# the control: it can be had
fcntl.flock(f, fcntl.LOCK_UN)
fcntl.flock(g, fcntl.LOCK_EX)
