#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Handles of one inode must agree on who reads and writes, else the kernel answers EIO. Two queues of
# io_uring open each of many files at once for the first time, while every fourth file that the daemon
# opens is refused: one that got no backing id must not go to the page cache beside one that did.
# timeout: 600
. "$WARD_SRC/tests/cases/fs/_fs.sh"

ENOSPC=28
ROUNDS=2000
RULES=$WARD_TMP/rules
cat >"$WARD_TMP/agree.py" <<'END'
import errno, os, sys
rounds, refuse = int(sys.argv[1]), int(sys.argv[2])
pipes = os.pipe(), os.pipe()

def meet(me):
    """Both are here."""
    os.write(pipes[me][1], b".")
    if not os.read(pipes[1 - me][0], 1):
        sys.exit("FAIL: the other has ended")

def opened(name):
    try:
        return os.open(name, os.O_RDWR)
    except OSError as e:
        if e.errno != refuse:
            sys.exit("FAIL: %s: %s" % (name, e))
        # Refused itself, and not only the look for a backing id.
        return None

cpus = sorted(os.sched_getaffinity(0))
child = os.fork()
me = 0 if child else 1
os.close(pipes[1 - me][1])
os.sched_setaffinity(0, {cpus[-me]})
for i in range(rounds):
    meet(me)
    fd = opened("f%d" % i)
    meet(me)
    if fd is not None:
        os.write(fd, b"x")
        os.close(fd)
if child and os.waitpid(child, 0)[1]:
    sys.exit(1)
END
policy
fresh
echo "openat2 $ENOSPC 4" >"$RULES"
as_owner python3 -c "
for i in range($ROUNDS): open('$BACK/f%d' % i, 'w').close()"
rc=0
WARD_TRANSPORT=io_uring "$FSMOUNT" -m root -o $OWNER:$OWNER -F "$RULES" -l "$EVENTS" "$POLICY" \
	"$BACK" "$MNT" python3 "$WARD_TMP/agree.py" $ROUNDS $ENOSPC || rc=$?
[ $rc != 77 ] || { echo "this kernel has no FUSE over io_uring"; exit 77; }
[ $rc = 0 ] || fail "status $rc"
# Both kinds were there: else this tests nothing.
recorded 'path=./workspace/f[0-9]+.*io=.passthrough'
recorded 'path=./workspace/f[0-9]+.*io=.cached'
