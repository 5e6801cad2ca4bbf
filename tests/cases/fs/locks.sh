#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# POSIX, open-file-description and flock locks inside conflict with a host process's on the backing,
# and with each other as the system calls say; waits end by a release and by a signal.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

# held FILE KIND CMD…: runs CMD while a host process holds the lock
cat >"$WARD_TMP/held.py" <<'END'
import fcntl, subprocess, sys
f = open(sys.argv[1], "r+b")
(fcntl.lockf if sys.argv[2] == "posix" else fcntl.flock)(f, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[3:]))
END
cat >"$WARD_TMP/try.py" <<'END'
import fcntl, sys
f = open(sys.argv[1], "r+b")
lock = fcntl.lockf if sys.argv[2] == "posix" else fcntl.flock
try:
    lock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError as e:
    assert e.errno in (11, 13), e
    print("busy")
else:
    print("free")
END
cat >"$WARD_TMP/wait.py" <<'END'
import fcntl, os, signal, sys, threading, time
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
END
cat >"$WARD_TMP/ofd.py" <<'END'
import fcntl, os, struct
F_OFD_GETLK, F_OFD_SETLK = 36, 37
def flk(t, start=0, n=0):
    return struct.pack("hhqqi4x", t, 0, start, n, 0)
a = open("f", "r+b"); b = open("f", "r+b")
fcntl.fcntl(a, F_OFD_SETLK, flk(fcntl.F_WRLCK, 0, 10))
try:
    fcntl.fcntl(b, F_OFD_SETLK, flk(fcntl.F_WRLCK, 5, 1))
    raise SystemExit("no conflict")
except OSError as e:
    assert e.errno == 11, e
fcntl.fcntl(b, F_OFD_SETLK, flk(fcntl.F_WRLCK, 10, 1))
t = struct.unpack("hhqqi4x", fcntl.fcntl(b, F_OFD_GETLK, flk(fcntl.F_WRLCK, 0, 1)))
assert t[0] == fcntl.F_WRLCK and t[2] == 0 and t[3] == 10, t
a.close()
fcntl.fcntl(b, F_OFD_SETLK, flk(fcntl.F_WRLCK, 0, 10))
# a read lock becomes a write lock
fcntl.lockf(b, fcntl.LOCK_SH, 5, 100)
fcntl.lockf(b, fcntl.LOCK_EX, 5, 100)
END
# F_GETLK tells whose it is: of a program of the host, and of one inside that has it alone; 0 for a read
# lock of several.
cat >"$WARD_TMP/whose.py" <<'END'
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
END
# An end of another process, of a file that this one has closed and opened again, takes nothing from
# what this one has locked since: by FLUSH (r+b), and without it (rb).
cat >"$WARD_TMP/again.py" <<'END'
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
END
# flock(2) ends with its file, also where that was the first one that could only read (its open file
# is what the kernel has for passthrough, and stays). Without an end the alarm ends the test.
cat >"$WARD_TMP/flocked.py" <<'END'
import fcntl, os, signal, sys
signal.alarm(60)
for how in (os.O_RDONLY, os.O_RDWR):
    for kind in (fcntl.LOCK_SH, fcntl.LOCK_EX):
        for name in ("f", sys.argv[1]):
            f = os.open("f", how)
            fcntl.flock(f, kind)
            os.close(f)
            f = os.open(name, os.O_RDWR)
            fcntl.flock(f, fcntl.LOCK_EX)
            os.close(f)
END
script locks <<END
python3 "$WARD_TMP/flocked.py" "$BACK/f"
for kind in write read; do
	python3 "$WARD_TMP/again.py" \$kind
done
python3 "$WARD_TMP/whose.py"
python3 "$WARD_TMP/held.py" "$BACK/f" posix python3 "$WARD_TMP/whose.py" host
for kind in posix flock; do
	same "\$(python3 "$WARD_TMP/held.py" "$BACK/f" \$kind python3 "$WARD_TMP/try.py" f \$kind)" busy
	same "\$(python3 "$WARD_TMP/held.py" f \$kind python3 "$WARD_TMP/try.py" "$BACK/f" \$kind)" busy
	same "\$(python3 "$WARD_TMP/try.py" f \$kind)" free
	python3 "$WARD_TMP/wait.py" \$kind
done
python3 "$WARD_TMP/ofd.py"
END
for mode in $MODES; do
	policy
	fresh
	as_owner sh -c "echo x >'$BACK/f'"
	in_mode $mode "$WARD_TMP/locks" || fail "$mode: locks"
done
