#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What io_uring adds: each CPU's queue has few places, so whoever waits in one must not keep others
# out; interrupts take another way than their requests; the transport is chosen when INIT comes.
# timeout: 600
# suites: tsan
. "$WARD_SRC/tests/cases/fs/_fs.sh"
over_uring() {
	rc=0
	WARD_TRANSPORT=io_uring in_mode "$@" || rc=$?
	[ $rc != 77 ] || { echo "this kernel has no FUSE over io_uring"; exit 77; }
	return $rc
}

# More waiters than a queue has places, all from one CPU; others go on; each gets the lock.
cat >"$WARD_TMP/waiters.py" <<'END'
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
END
# A signal that comes at any moment before or after the request was handed out ends the wait.
cat >"$WARD_TMP/early.py" <<'END'
import fcntl, os, random, signal
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
END
# Many clients, more threads than queues, slow requests beside fast ones; content arrives whole.
cat >"$WARD_TMP/crowd.py" <<'END'
import os, sys, threading
def client(n):
    name = "c%d" % n
    data = os.urandom(1 << 20) + bytes(n)
    for i in range(6):
        with open(name, "wb", buffering=0) as f:
            at = 0
            # below and above what is copied, and what goes to the pool
            for size in (1, 4096, 8192, 8193, 100000, 262144, 262145, len(data)):
                at += f.write(data[at:at + size])
            while at < len(data):
                at += f.write(data[at:])
            os.fsync(f.fileno())
            os.posix_fallocate(f.fileno(), 0, len(data))
        with open(name, "rb", buffering=0) as f:
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            got = b""
            while part := f.read(1 << 20):
                got += part
        assert got == data, (n, i, len(got), len(data))
        os.setxattr(name, "user.a", data[:60000 if sys.argv[1] == "big" else 3000])
        assert os.getxattr(name, "user.a") == data[:60000 if sys.argv[1] == "big" else 3000]
        os.mkdir(name + ".d")
        for k in range(50):
            os.close(os.open(name + ".d/%d" % k, os.O_CREAT | os.O_WRONLY))
        assert len(os.listdir(name + ".d")) == 50
        for k in range(50):
            os.unlink(name + ".d/%d" % k)
        os.rmdir(name + ".d")
        os.statvfs(".")
errors = []
def guarded(n):
    try:
        client(n)
    except BaseException as e:
        errors.append((n, repr(e)))
threads = [threading.Thread(target=guarded, args=(n,)) for n in range(12)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not errors, errors
END
script all <<END
xattr=small
python3 - <<'PY' && xattr=big
import os
open("x", "w").close()
os.setxattr("x", "user.a", b"x" * 60000)
PY
python3 "$WARD_TMP/crowd.py" \$xattr
python3 "$WARD_TMP/waiters.py"
python3 "$WARD_TMP/early.py"
END
for mode in $MODES other; do
	policy
	fresh
	over_uring $mode "$WARD_TMP/all" 2>"$WARD_TMP/err" || { cat "$WARD_TMP/err" >&2; fail "$mode"; }
done

# What a quota gives back comes in order on /dev/fuse alone; the control is what stands above.
policy '[quota /workspace]' 'files = 10'
fresh
if in_mode root -c true 2>"$WARD_TMP/err"; then :; else cat "$WARD_TMP/err" >&2; fail "quota"; fi
if WARD_TRANSPORT=io_uring in_mode root -c true 2>"$WARD_TMP/err"; then fail "rings beneath a quota"; fi
grep -q 'unexpected: /dev/fuse' "$WARD_TMP/err" || { cat "$WARD_TMP/err" >&2; fail "quota: why"; }
policy

# Left to choose, the daemon takes /dev/fuse where it may keep the CPUs awake, and rings where not.
case $MODES in
*user*)
	fresh
	WARD_TRANSPORT=auto in_mode user -c true 2>"$WARD_TMP/err" || { cat "$WARD_TMP/err" >&2; fail "auto, user"; }
	;;
esac
if [ -c /dev/cpu_dma_latency ] && [ "$(nproc)" -gt 1 ]; then
	fresh
	if WARD_TRANSPORT=auto in_mode root -c true 2>"$WARD_TMP/err"; then fail "auto, root: rings"; fi
	grep -q 'unexpected: /dev/fuse, CPUs kept awake' "$WARD_TMP/err" || {
		cat "$WARD_TMP/err" >&2
		fail "auto, root"
	}
fi

# Nobody wakes while nothing is asked for: no thread of the daemon runs.
script idle <<END
daemon=\$(cat "$WARD_TMP/pid")
switches() { cat /proc/\$daemon/task/*/status | grep ctxt_switches | sort; }
# the control: threads that run show
before=\$(switches)
for i in 1 2 3 4 5; do echo x >f\$i; rm f\$i; done
[ "\$before" != "\$(switches)" ]
n=0
until before=\$(switches); sleep 1; [ "\$before" = "\$(switches)" ]; do
	n=\$((n + 1))
	[ \$n -lt 60 ] || { echo "FAIL: never idle" >&2; exit 1; }
done
END
fresh
rm -f "$WARD_TMP/pid"
# A thread sanitizer has a thread of its own that wakes.
grep -q __tsan_init "$FSMOUNT" || WARD_TRANSPORT=io_uring "$FSMOUNT" -o $OWNER:$OWNER -p "$WARD_TMP/pid" \
	"$POLICY" "$BACK" "$MNT" sh -eu "$WARD_TMP/idle" || fail "idle"

# The mount goes while its clients are busy: who is left gets errors, nothing hangs.
script busy <<END
for i in 1 2 3 4 5 6; do
	(j=0; while [ \$j -lt 100000 ] && echo x >b\$i.\$j; do
		cat b\$i.\$j
		rm b\$i.\$j
		j=\$((j + 1))
	done
	[ \$j -lt 100000 ] && : >"$WARD_TMP/ended.\$i") >/dev/null 2>&1 &
done
n=0
while [ "\$(ls | wc -l)" -lt 2 ]; do
	n=\$((n + 1))
	[ \$n -lt 6000 ] || exit 1
done
cd /
umount -f "$MNT" 2>/dev/null || umount -l -f "$MNT"
wait
END
fresh
chown 0:0 "$BACK"
WARD_TRANSPORT=io_uring "$FSMOUNT" "$POLICY" "$BACK" "$MNT" sh -u "$WARD_TMP/busy" || fail "busy: $?"
[ "$(find "$WARD_TMP" -maxdepth 1 -name 'ended.*' | wc -l)" = 6 ] || fail "busy: not all saw an error"

# Allowed only once it was mounted: the kernel does not offer it, /dev/fuse serves.
script late <<'END'
echo x >f && [ "$(cat f)" = x ]
END
fresh
WARD_TRANSPORT=late "$FSMOUNT" -o $OWNER:$OWNER "$POLICY" "$BACK" "$MNT" sh -eu "$WARD_TMP/late" || fail "late: $?"
