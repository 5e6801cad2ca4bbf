#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of wardfs-hostd --groups that is no part of wardfs: an ordinary user.

groupclient.py SOCKET OTHER: makes each attempt on the service, says "NAME: what came" a line. OTHER is
the number of a process of another user. groupclient.py SOCKET hold: has groups with a process inside
and one beside, says its number, theirs, and the path of a group, and waits.
"""
import array
import errno
import os
import signal
import socket
import struct
import subprocess
import sys
import time

VERSION, GROUP, GROUPED, MOVE, MOVED = 1, 76, 77, 78, 79  # ipc/msg.h, ipc/helper.h
UNLIMITED = (1 << 64) - 1
PARTS = ("memory", "pids", "cpu", "cpuacct", "io", "pressure")  # sandbox/cgroup.h


def name(error):
    return errno.errorcode[error] if error else "ok"


def attempt(what, *args, **kwargs):
    try:
        what(*args, **kwargs)
    except OSError as e:
        return name(e.errno)
    return "ok"


class Service:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(60)
        self.sock.connect(path)
        self.dirs = {}

    def ask(self, data, fds=()):
        """The whole answer, or None at the end of the connection."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self.send(data, rights)
            answer, got, _, _ = socket.recv_fds(self.sock, 256, 16)
        except (BrokenPipeError, ConnectionResetError):
            return None
        if not answer or struct.unpack_from("<II", answer)[1] not in (GROUPED, MOVED):
            return None
        self.take(answer, got)
        return answer

    def send(self, data, rights):
        for _ in range(600):
            try:
                self.sock.sendmsg([data], rights)
                return
            except PermissionError:  # not taken up yet
                time.sleep(0.05)
        raise TimeoutError("the service takes no descriptors")

    def take(self, answer, got):
        # Of v1 there is one more, which hears of memory.
        n = struct.unpack_from("<I", answer, 12)[0] if len(answer) > 12 else 0
        for i, fd in enumerate(got[:n]):
            _, parts = struct.unpack_from("<II", answer, 16 + 8 * i)
            for k, part in enumerate(PARTS):
                if parts & 1 << k:
                    self.dirs[part] = fd

    def group(self, memory=UNLIMITED, processes=UNLIMITED, cpus=UNLIMITED, tail=b""):
        answer = self.ask(struct.pack("<IIQQQI", VERSION, GROUP, memory, processes, cpus, 0) + tail)
        return name(struct.unpack_from("<III", answer)[2]) if answer else "closed"

    def move(self, fd, helper=0):
        answer = self.ask(struct.pack("<III", VERSION, MOVE, helper), [fd])
        return name(struct.unpack("<III", answer)[2]) if answer else "closed"

    def read(self, part, file):
        with open(os.open(file, os.O_RDONLY, dir_fd=self.dirs[part]), encoding="ascii") as f:
            return f.read().strip()


def said(what, result):
    print(f"{what}: {result}", flush=True)


def sleeper():
    return subprocess.Popen(["sleep", "600"])


def groups_of(pid):
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as f:
        return f.read()


def members(path, other):
    s, child = Service(path), sleeper()
    said("before it has groups", Service(path).move(os.pidfd_open(child.pid)))
    said("groups", s.group(64 << 20, 20))
    said("an own process", s.move(os.pidfd_open(child.pid)))
    said("which is inside", "/inside" in groups_of(child.pid))
    helper = sleeper()
    said("a helper", s.move(os.pidfd_open(helper.pid), 1))
    said("which is beside", "/guard" in groups_of(helper.pid))
    said("another user's process", s.move(os.pidfd_open(other)))
    said("root's process", s.move(os.pidfd_open(1)))
    unchanged = all("wardfs-host" not in groups_of(pid) for pid in (other, 1))
    said("they are where they were", unchanged)
    ended = subprocess.Popen(["true"])
    fd = os.pidfd_open(ended.pid)
    while not os.waitid(os.P_PIDFD, fd, os.WEXITED | os.WNOWAIT):
        pass
    said("a process that has ended", s.move(fd))
    ended.wait()
    said("whose number is free", s.move(fd))
    file = os.open("pidfd:[1]", os.O_RDWR | os.O_CREAT)
    said("a file of that name", s.move(file))
    said("a pipe", s.move(os.pipe()[0]))
    said("/proc/PID", s.move(os.open(f"/proc/{child.pid}", os.O_RDONLY)))
    two = Service(path)
    said("a second session", two.group())
    said("which takes it from the first", two.move(os.pidfd_open(child.pid)))
    said("the first, once more", s.move(os.pidfd_open(child.pid), 1))
    said("which is beside now", "/guard" in groups_of(child.pid))
    within = subprocess.run(
        [sys.executable, "-c", "import os, sys; sys.stdin.read(1); os.execv(sys.argv[1], sys.argv[1:])",
         sys.executable, __file__, path, "one"], input="x", text=True, stdout=subprocess.PIPE,
        check=True, preexec_fn=lambda: s.move(os.pidfd_open(os.getpid())))
    said("a client that is inside", within.stdout.strip())
    child.kill()
    helper.kill()


def limits(path):
    s = Service(path)
    said("limits", s.group(64 << 20, 20, 15))
    v1 = "/unified" not in os.readlink(f"/proc/self/fd/{s.dirs['memory']}") and \
        os.path.exists(f"/proc/self/fd/{s.dirs['memory']}/memory.limit_in_bytes")
    file = "memory.limit_in_bytes" if v1 else "memory.max"
    said("memory", s.read("memory", file))
    said("processes", s.read("pids", "inside/pids.max"))
    for part, where in (("memory", file), ("pids", "inside/pids.max"), ("pids", "cgroup.procs"),
                        ("pids", "inside/cgroup.procs"), ("pids", "guard/cgroup.procs")):
        said(f"writing {'memory limit' if where == file else where}",
             attempt(os.open, where, os.O_WRONLY, dir_fd=s.dirs[part]))
    said("a group inside", attempt(os.mkdir, "inside/mine", dir_fd=s.dirs["pids"]))
    said("removing it", attempt(os.rmdir, "inside", dir_fd=s.dirs["pids"]))
    said("changing the mode", attempt(os.chmod, f"/proc/self/fd/{s.dirs['memory']}/{file}", 0o666))
    said("what is above", attempt(os.open, "../cgroup.procs", os.O_WRONLY, dir_fd=s.dirs["pids"]))
    said("more, asked again", s.group(128 << 20))
    for what, asked in (("memory", {"memory": 2 << 30}), ("processes", {"processes": 1001}),
                        ("CPUs", {"cpus": 1 << 40})):
        said(f"more {what} than the host gives", Service(path).group(**asked))
    said("all that it gives", Service(path).group(1 << 30, 1000))


def nonsense(path):
    said("a name behind", Service(path).group(tail=struct.pack("<I", 12) + b"../../inside"))
    for what, data in (("too short", b"\1\0\0\0"), ("another version", struct.pack("<II", 9, GROUP)),
                       ("another type", struct.pack("<II", VERSION, 72)),
                       ("no limits", struct.pack("<II", VERSION, GROUP)),
                       ("two replayers", struct.pack("<IIQQQI", VERSION, GROUP, 1, 1, 1, 2))):
        said(f"nonsense, {what}", "answered" if Service(path).ask(data) else "closed")
    s = Service(path)
    s.group()
    child = sleeper()
    for what, data, n in (("no process", struct.pack("<III", VERSION, MOVE, 0), 0),
                          ("another place", struct.pack("<III", VERSION, MOVE, 2), 1)):
        s = Service(path)
        s.group()
        said(f"nonsense, {what}", "answered" if s.ask(data, [os.pidfd_open(child.pid)] * n) else "closed")
    child.kill()


def counts(path):
    """The service lets a user have 16: those of before have to have ended."""
    served = []
    for _ in range(600):
        s = Service(path)
        if s.group() == "ok":
            served.append(s)
            if len(served) == 16:
                break
        else:
            time.sleep(0.05)
    said("sessions", len(served))
    said("one more", Service(path).group())
    served.pop().sock.close()
    for _ in range(600):
        again = Service(path).group()
        if again == "ok":
            break
        time.sleep(0.05)
    said("one less", again)


def hold(path):
    s, child, helper = Service(path), sleeper(), sleeper()
    assert s.group(64 << 20, 20) == "ok"
    assert s.move(os.pidfd_open(child.pid)) == s.move(os.pidfd_open(helper.pid), 1) == "ok"
    print(os.getpid(), child.pid, helper.pid, os.readlink(f"/proc/self/fd/{s.dirs['pids']}"), flush=True)
    signal.pause()


if sys.argv[2] == "hold":
    hold(sys.argv[1])
elif sys.argv[2] == "one":
    said("groups", Service(sys.argv[1]).group())
else:
    signal.alarm(300)
    members(sys.argv[1], int(sys.argv[2]))
    limits(sys.argv[1])
    nonsense(sys.argv[1])
    counts(sys.argv[1])
