# SPDX-License-Identifier: Apache-2.0
# Part of ../replaced.sh: what is held for a program that was on its way to a file is for no other
# program. Two programs open a file in turns, and each time the host has just replaced it: each
# finds the one that is there.
import ctypes
import os
import signal
import sys

BACK = sys.argv[1]
ROUNDS = 60


def program():
    """A process that opens the file when it is told to, and answers what it read."""
    theirs, ask = os.pipe()
    answer, mine = os.pipe()
    if not os.fork():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        while os.read(theirs, 1) == b"o":
            with open("f") as f:
                text = f.read()
            # Not before it is closed: an open file is found by those who know of it.
            os.write(mine, text.encode())
        os._exit(0)
    return ask, answer


def replace(n):
    with open(BACK + "/new", "w") as f:
        f.write("%d" % n)
    os.chmod(BACK + "/new", 0o644)
    os.rename(BACK + "/new", BACK + "/f")


replace(0)
programs = [program(), program()]
for n in range(1, ROUNDS):
    for k, (ask, answer) in enumerate(programs):
        replace(2 * n + k)
        os.write(ask, b"o")
        got = int(os.read(answer, 100))
        if got != 2 * n + k:
            sys.exit("FAIL: round %d: program %d opened %d, and %d was there" % (n, k, got, 2 * n + k))
for ask, _ in programs:
    os.write(ask, b"e")
    os.wait()
