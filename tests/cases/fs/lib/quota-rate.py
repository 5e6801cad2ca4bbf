# SPDX-License-Identifier: Apache-2.0
# Part of ../quota-rate.sh.
import os, signal, sys, time
back, slow = sys.argv[1], sys.argv[2] == "slow"
N = 20

def writer(name):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT)
    os.write(fd, b"x" * 65536)

# Twenty writers; each would wait for hours.
pids = []
for i in range(N):
    pid = os.fork()
    if not pid:
        writer("slow/%d" % i)
        os._exit(0)
    pids.append(pid)
# All is written at once, it is the answers that come later...
for _ in range(1200):
    if all(os.path.exists(f) and os.stat(f).st_size == 65536 for f in (back + "/slow/%d" % i for i in range(N))):
        break
    time.sleep(0.05)
else:
    sys.exit("FAIL: not all was written")
# ... and everything else goes on.
with open("slow/there") as f:
    assert f.read() == "mine\n"
os.mkdir("slow/dir")
os.rename("slow/dir", "slow/dir2")
with open("fast", "wb") as f:
    f.write(b"x" * 1000000)
waiting = [p for p in pids if os.waitpid(p, os.WNOHANG) == (0, 0)]
if not slow:
    # the control: nobody waits for hours
    for p in waiting:
        os.waitpid(p, 0)
    sys.exit(0)
if len(waiting) != N:
    sys.exit("FAIL: %d of %d wait" % (len(waiting), N))
# Killed, they are gone.
for p in pids:
    os.kill(p, signal.SIGKILL)
for p in pids:
    _, status = os.waitpid(p, 0)
    if not os.WIFSIGNALED(status):
        sys.exit("FAIL: not killed: %d" % status)
