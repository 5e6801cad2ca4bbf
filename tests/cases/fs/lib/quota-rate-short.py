# SPDX-License-Identifier: Apache-2.0
# Part of ../quota-rate.sh.
import os, resource, signal, sys, time
back, pid, rated = sys.argv[1], int(open(sys.argv[2]).read()), sys.argv[3] == "rated"
fd = os.open("slow/f", os.O_WRONLY | os.O_CREAT)
# Whoever writes next waits for this.
with open("slow/first", "wb") as f:
    f.write(b"x" * 65536)
for i in range(100):
    os.stat("slow")
def waits(pid):
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rpartition(")")[2].split()[0] in "SD"
unlimited = resource.prlimit(pid, resource.RLIMIT_AS, (4096, resource.RLIM_INFINITY))
child = os.fork()
if not child:
    try:
        os.write(fd, b"x" * 65536)
    except OSError as e:
        os._exit(e.errno)
    os._exit(0)
for _ in range(1200):
    ended = os.waitpid(child, os.WNOHANG)
    if ended[0] or (rated and waits(child)):
        break
    time.sleep(0.05)
else:
    sys.exit("FAIL: neither ends nor waits")
# What the daemon does next, it does after its answer.
for i in range(200):
    try:
        os.stat("slow/absent-%d" % i)
    except OSError:
        pass
resource.prlimit(pid, resource.RLIMIT_AS, unlimited)
# Whoever need not wait ends, however late it gets to run.
for _ in range(1 if rated else 1200):
    ended = ended if ended[0] else os.waitpid(child, os.WNOHANG)
    if ended[0] or rated:
        break
    time.sleep(0.05)
if not ended[0]:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
size = os.stat(back + "/slow/f").st_size
code = os.waitstatus_to_exitcode(ended[1]) if ended[0] else None
if not rated:
    assert code == 0 and size == 65536, ("control", code, size)
elif code == 0:
    sys.exit("FAIL: written, and did not wait")
elif size:
    sys.exit("FAIL: %r, and %d bytes are there" % (code, size))
