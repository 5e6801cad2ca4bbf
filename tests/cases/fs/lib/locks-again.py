# SPDX-License-Identifier: Apache-2.0
# Part of ../locks.sh.
import fcntl, os, sys
kind, how = (fcntl.LOCK_EX, "r+b") if sys.argv[1] == "write" else (fcntl.LOCK_SH, "rb")
def busy():
    pid = os.fork()
    if not pid:
        try:
            fcntl.lockf(open("f", "r+b"), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            os._exit(1 if e.errno in (11, 13) else 2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
f = open("f", how)
fcntl.lockf(f, kind)
hold = os.pipe()
pid = os.fork()
if not pid:
    os.read(hold[0], 1)
    os._exit(0)
f.close()
g = open("f", how)
fcntl.lockf(g, kind)
assert busy() == 1
os.write(hold[1], b"x")
os.waitpid(pid, 0)
for _ in range(20):
    os.stat("f")
    assert busy() == 1
fcntl.lockf(g, fcntl.LOCK_UN)
assert busy() == 0
