# SPDX-License-Identifier: Apache-2.0
"""Locks that nobody waits for, over io_uring. A file that is closed gives its lock at once to another
program on another CPU. A lock that stays held is refused without a wait, whatever descriptors of its
file were closed before: with the wait of a quarter of a second the alarm ends the test."""
import fcntl
import os
import signal
import sys

HANDED = 1500
REFUSED = 400
CPUS = sorted(os.sched_getaffinity(0))
WAYS = ((fcntl.lockf, os.O_RDWR), (fcntl.flock, os.O_RDONLY), (fcntl.flock, os.O_RDWR))


def lock(fd, call):
    """Did it get the lock?"""
    try:
        call(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def child(number, work, *args):
    pid = os.fork()
    if pid:
        return pid
    os.sched_setaffinity(0, {CPUS[number % len(CPUS)]})
    signal.alarm(90)
    os._exit(work(*args))


def hand_on(name, call, flags, take, give):
    """Locks and closes each time that it is its turn."""
    for _ in range(HANDED):
        if os.read(take, 1) != b".":
            return 1
        fd = os.open(name, flags)
        got = lock(fd, call)
        os.close(fd)
        os.write(give, b"." if got else b"x")
        if not got:
            return 2
    return 0


def poll(name, call, flags):
    fd = os.open(name, flags)
    return 3 if any(lock(fd, call) for _ in range(REFUSED)) else 0


def main():
    signal.alarm(300)
    for i, (call, flags) in enumerate(WAYS):
        handed, held = f"handed{i}", f"held{i}"
        for name in handed, held:
            os.close(os.open(name, os.O_CREAT | os.O_RDWR))
        # Somebody else has it open, and closed a descriptor of it.
        open_too = os.open(handed, os.O_RDWR)
        os.close(os.dup(open_too))
        holder = os.open(held, flags)
        if not lock(holder, call):
            sys.exit("the control: a lock that nobody has")
        # No dup: closing one ends POSIX locks. A program that ends with a copy does not.
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        pid = os.fork()
        if not pid:
            os.close(holder)
            os._exit(0)
        os.waitpid(pid, 0)
        there, back = os.pipe(), os.pipe()
        pids = [child(0, hand_on, handed, call, flags, there[0], back[1]),
                child(1, hand_on, handed, call, flags, back[0], there[1]),
                child(0, poll, held, call, flags), child(1, poll, held, call, flags)]
        os.write(there[1], b".")
        wrong = [os.waitpid(pid, 0)[1] for pid in pids]
        if any(wrong):
            sys.exit(f"{call.__name__} {flags}: {wrong}")
        os.close(holder)
        os.close(open_too)


main()
