# SPDX-License-Identifier: Apache-2.0
"""Programs that would wait for each other's POSIX locks for ever: one of them is told EDEADLK, the
others get theirs. Where no circle closes, nobody is told."""
import errno
import fcntl
import os
import select
import signal
import sys

PROGRAMS = 3


class Program:
    """A process that locks what it is told and says what became of it."""

    def __init__(self, name):
        self.to, theirs = os.pipe(), os.pipe()
        self.back = theirs
        self.pid = os.fork()
        if not self.pid:
            self.serve(os.open(name, os.O_RDWR))

    def serve(self, fd):
        while True:
            order = os.read(self.to[0], 64).decode().split()
            if order == ["end"]:
                os._exit(0)
            how = fcntl.LOCK_SH if order[0] == "read" else fcntl.LOCK_EX
            try:
                fcntl.lockf(fd, how, int(order[2]), int(order[1]))
                said = "had"
            except OSError as e:
                said = errno.errorcode[e.errno]
                # What it has the others wait for.
                fcntl.lockf(fd, fcntl.LOCK_UN)
            os.write(self.back[1], said.encode())

    def tell(self, *order):
        os.write(self.to[1], " ".join(map(str, order)).encode())

    def said(self):
        return os.read(self.back[0], 64).decode()

    def waits(self):
        """Until it sleeps in fcntl(2): the file system has seen its request."""
        for _ in range(6000):
            with open(f"/proc/{self.pid}/syscall", encoding="ascii") as f:
                if f.read().split()[0] == str(FCNTL):
                    return
            os.sched_yield()

    def end(self):
        self.tell("end")
        os.waitpid(self.pid, 0)


FCNTL = {"x86_64": 72, "aarch64": 25}[os.uname().machine]


def circle(kind, names):
    """Each has a part and asks for the next one's: the last one closes the circle."""
    programs = [Program(name) for name in names]
    for i, p in enumerate(programs):
        p.tell(kind, *((0, 1) if kind == "read" else (i, 1)))
        assert p.said() == "had"
    for i, p in enumerate(programs[:-1]):
        p.tell("write", *((0, 1) if kind == "read" else (i + 1, 1)))
    for p in programs[:-1]:
        p.waits()
    programs[-1].tell("write", 0, 1)
    # Whose request comes last closes the circle: over io_uring that is not always who asked last.
    told, left = [], {p.back[0]: p for p in programs}
    while left:
        ready = select.select(list(left), [], [], 100)[0]
        if not ready:
            for p in left.values():
                os.kill(p.pid, signal.SIGKILL)
            sys.exit(f"{kind}: they wait for ever; told: {told}")
        for fd in ready:
            p = left.pop(fd)
            told.append(p.said())
            p.end()
    if sorted(told) != [errno.errorcode[errno.EDEADLK]] + ["had"] * (len(programs) - 1):
        sys.exit(f"{kind}: told: {told}")


def chain():
    """One waits for one that waits for nobody."""
    a, b = Program("f"), Program("f")
    a.tell("write", 0, 1)
    assert a.said() == "had"
    b.tell("write", 1, 1)
    assert b.said() == "had"
    b.tell("write", 0, 1)
    b.waits()
    a.tell("write", 2, 1)
    if a.said() != "had":
        sys.exit("chain: a lock that was free")
    a.end()
    if b.said() != "had":
        sys.exit("chain: the one that waited")
    b.end()


circle("write", ["f"] * PROGRAMS)
circle("read", ["f"] * 2)
chain()
