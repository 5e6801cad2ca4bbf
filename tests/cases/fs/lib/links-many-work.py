# SPDX-License-Identifier: Apache-2.0
# Part of ../links-many.sh.
import os, signal, subprocess, sys, time
N, OPENS = 20000, 20
pid, out = int(open(sys.argv[1]).read()), sys.argv[2]
def wait(what, until):
    for _ in range(1200):
        if until():
            return
        time.sleep(0.05)
    sys.exit("FAIL: " + what)
def write():
    os.close(os.open("d/f", os.O_WRONLY))
def traced():
    for t in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, t)) as f:
            if "TracerPid:\t0\n" in f.read():
                return False
    return True
os.mkdir("d")
os.close(os.open("d/f", os.O_WRONLY | os.O_CREAT))
# A kernel that is short of memory forgets names that nobody holds, and then so does the daemon.
keep = os.open("d/f", os.O_PATH)
for i in range(N):
    os.link("d/f", "d/l%d" % i)
# The directories are watched once they were looked at as such; then the names are looked at once.
for _ in range(5):
    write()
s = subprocess.Popen(["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", out, "-p", str(pid)])
wait("not traced", traced)
for i in range(OPENS):
    write()
    os.link("d/f", "d/m%d" % i)
    write()
    os.unlink("d/m%d" % i)
s.send_signal(signal.SIGINT)
s.wait()
with open(out) as f:
    calls = sum(int(line.split()[0]) for line in f if line.split()[:1] and line.split()[0].isdigit() and "total" not in line)
print(calls, "system calls for", 2 * OPENS, "opens of a file with", N + 1, "names")
assert calls > 4 * OPENS, "control: not counted"
assert calls < N, "each name is looked at"
