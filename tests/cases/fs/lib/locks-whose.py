# SPDX-License-Identifier: Apache-2.0
# Part of ../locks.sh.
import fcntl, os, struct, sys
def flk(kind, start, length):
    return struct.pack("hhqqi4x", kind, 0, start, length, 0)
def ask(f, kind, start, length):
    return struct.unpack("hhqqi4x", fcntl.fcntl(f, fcntl.F_GETLK, flk(kind, start, length)))
f = open("f", "r+b")
if len(sys.argv) > 1:
    got = ask(f, fcntl.F_WRLCK, 0, 0)
    assert got[0] == fcntl.F_WRLCK and got[4] == os.getppid(), (got, os.getppid())
    sys.exit(0)
fcntl.lockf(f, fcntl.LOCK_EX, 10, 100)
fcntl.lockf(f, fcntl.LOCK_SH, 10, 300)
me = os.getpid()
def child(do):
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        g = open("f", "r+b")
        try:
            do(g)
            os.write(w, b"y")
            os.read(hold[0], 1)
        finally:
            os._exit(0)
    os.close(w)
    assert os.read(r, 1) == b"y"
    return pid
hold = os.pipe()
def asks(g):
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        got = ask(g, kind, 0, 0)
        assert got[2:5] == (100, 10, me), (got, me)
    got = ask(g, fcntl.F_WRLCK, 200, 0)
    assert got[0] == fcntl.F_RDLCK and got[2:5] == (300, 10, me), (got, me)
    assert ask(g, fcntl.F_RDLCK, 300, 10)[0] == fcntl.F_UNLCK
    fcntl.lockf(g, fcntl.LOCK_EX, 5, 500)
    fcntl.lockf(g, fcntl.LOCK_SH, 10, 300)
pid = child(asks)
got = ask(f, fcntl.F_WRLCK, 400, 0)
assert got[2:5] == (500, 5, pid), (got, pid)
# both read the same range: not told whose
h = child(lambda g: None)
os.write(hold[1], b"xx")
os.waitpid(pid, 0)
os.waitpid(h, 0)
assert ask(f, fcntl.F_WRLCK, 400, 0)[0] == fcntl.F_UNLCK
