#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
# [quota] rate: what is too fast is answered later, and nothing else waits meanwhile: reads, other files outside of the
# quota, and (more writers than the daemon has threads) each other's; a writer that waits can be killed. Where the daemon
# gets no more memory, nothing is written without waiting.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/rate.py" <<'END'
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
END
for mode in $MODES; do
	for rate in 1G/s 1K/h; do
		policy '[quota /workspace/slow]' "rate = $rate"
		fresh
		as_owner sh -c "mkdir '$BACK/slow' && echo mine >'$BACK/slow/there'"
		if [ $rate = 1K/h ]; then what=slow; else what=control; fi
		in_mode $mode -c "exec python3 '$WARD_TMP/rate.py' '$BACK' $what" || fail "$mode $rate"
	done
done

# What waits is answered in the end: a rate that a few seconds keep.
policy '[quota /workspace]' 'rate = 100K/s'
fresh
in_mode root -c 'dd if=/dev/zero of=f bs=50K count=4 2>/dev/null && [ "$(stat -c %s f)" = 204800 ]' || fail "answered"

# No memory and no thread more for the daemon once the file is open: whoever writes waits, or nothing is written.
cat >"$WARD_TMP/short.py" <<'END'
import os, resource, signal, sys, time
back, pid, rated = sys.argv[1], int(open(sys.argv[2]).read()), sys.argv[3] == "rated"
fd = os.open("slow/f", os.O_WRONLY | os.O_CREAT)
for i in range(100):
    os.stat("slow")
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
    if ended[0] or os.stat(back + "/slow/f").st_size:
        break
    time.sleep(0.05)
else:
    sys.exit("FAIL: neither written nor refused")
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
elif code is not None and size:
    sys.exit("FAIL: error %d, and %d bytes are there" % (code, size))
END
# A sanitizer dies without memory.
grep -qE '__[at]san_init' "$WARD_BUILD/wardfs-fs" || for what in free rated; do
	if [ $what = rated ]; then policy '[quota /workspace/slow]' 'rate = 1K/h'; else policy; fi
	fresh
	mkdir "$BACK/slow"
	"$FSMOUNT" -m other -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
		python3 "$WARD_TMP/short.py" "$BACK" "$WARD_TMP/pid" $what || fail "no memory: $what"
done
