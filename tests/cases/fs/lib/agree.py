# SPDX-License-Identifier: Apache-2.0
# Part of ../agree.sh.
import os, sys
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
