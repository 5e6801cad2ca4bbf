#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
# A file with many names. To open it for writing costs no look at each of them, also where the session goes on making
# names: counted are the system calls of the daemon. And what others do to one of the names is heeded at once: a name
# moved out of the tree, by itself or with its directory, leaves a link that no rule knows. The control is the same
# within the tree.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/work.py" <<'END'
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
END
if command -v strace >/dev/null; then
	policy
	fresh
	"$FSMOUNT" -m other -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
		python3 "$WARD_TMP/work.py" "$WARD_TMP/pid" "$WARD_TMP/calls" || fail "work"
fi

cat >"$WARD_TMP/moved.py" <<'END'
import os, sys, time
back, away = sys.argv[1:]
def write():
    os.close(os.open("a/f", os.O_WRONLY))
def allowed(what):
    try:
        write()
    except PermissionError:
        sys.exit("FAIL: control: " + what)
def refused(what):
    try:
        write()
    except PermissionError:
        return
    sys.exit("FAIL: opened for writing: " + what)
# What the host made is known once the kernel has asked for it: not before it heard that something changed.
def soon(what, *paths):
    for _ in range(1200):
        try:
            for p in paths:
                os.stat(p)
            return write()
        except (PermissionError, FileNotFoundError):
            time.sleep(0.05)
    sys.exit("FAIL: control: never " + what)
names = ["%s/l%d" % (d, i) for d in "abc" for i in range(10)]
for d in "abc":
    os.mkdir(d)
open("a/f", "w").close()
# So that no shortage of memory makes the kernel forget what is to be known.
keep = [os.open(p, os.O_PATH) for p in ("a/f", "b", "c")]
for n in names:
    os.link("a/f", n)
for r in range(40):
    for k in range(r % 4 + 1):
        allowed("all names are known, %d" % r)
    # one name: to another place in the tree, then out of it, and back
    n = names[r % len(names)]
    os.rename(back + "/" + n, back + "/b/new")
    soon("moved inside, %d" % r, "b/new")
    os.rename(back + "/b/new", away + "/new")
    refused("a name moved out, %d" % r)
    refused("a name moved out, again, %d" % r)
    if r % 2:
        os.link("a/f", "c/more")
        refused("and another made, %d" % r)
        os.unlink("c/more")
    os.unlink(away + "/new")
    allowed("the link outside is gone, %d" % r)
    os.link("a/f", n)
    # While the word of what the host did to that name before is on its way, the answer may still be no.
    soon("a name made again, %d" % r, n)
    # a link outside, and a name less
    os.link(back + "/a/f", away + "/x")
    os.unlink(back + "/" + n)
    refused("as many links as names, %d" % r)
    os.rename(away + "/x", back + "/" + n)
    soon("back again, %d" % r, n)
    # with its directory, for which another one comes
    if r % 4 == 0:
        os.rename(back + "/c", away + "/c")
        if r % 8 == 0:
            os.mkdir(back + "/c")
        refused("a directory moved out, %d" % r)
        if r % 8 == 0:
            os.rmdir(back + "/c")
        os.rename(away + "/c", back + "/c")
        soon("a directory back again, %d" % r, *("c/l%d" % i for i in range(10)))
END
for mode in $MODES; do
	policy
	fresh
	rm -rf "$WARD_TMP/away" && mkdir "$WARD_TMP/away" && chown $OWNER "$WARD_TMP/away"
	in_mode "$mode" -c "exec python3 '$WARD_TMP/moved.py' '$BACK' '$WARD_TMP/away'" || fail "$mode: moved"
done
