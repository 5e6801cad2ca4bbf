#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of wardfs-hostd that is no part of wardfs: an ordinary user with a FUSE mount of its own.

hostclient.py SOCKET DIR SECRET: makes each attempt on the service, says "NAME: what came" a line.
Runs as the ordinary user, in a mount namespace that is to be its own; DIR is the user's. SECRET is
a directory of root's with the files open (0644), shut (0600) and both (0666).
"""
import array
import ctypes
import errno
import os
import select
import signal
import socket
import struct
import sys
import threading

VERSION, OPEN, OPENED, CLOSE, AWAKE = 1, 72, 73, 74, 75  # ipc/msg.h, ipc/helper.h
IDS_MAX = 16384  # ipc/host.h
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
FOPEN_PASSTHROUGH = 1 << 7
libc = ctypes.CDLL(None, use_errno=True)


def own_namespaces():
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open("/proc/self/" + name, "wb") as f:
            f.write(text.encode())


class Fuse:
    """A mount with one file, "f", which is read and written by whatever id is set."""

    def __init__(self, at):
        os.makedirs(at, exist_ok=True)
        self.dev = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.dev},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        if libc.mount(b"hostclient", at.encode(), b"fuse", 6, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        self.path, self.id, self.stopped = os.path.join(at, "f"), 0, False
        threading.Thread(target=self.serve, daemon=True).start()
        os.stat(self.path)  # until then the kernel has not heard of passthrough

    def attr(self, ino):
        mode, size = (0o40755, 0) if ino == 1 else (0o100666, 1 << 20)
        return struct.pack("<QQQQQQIIIIIIIIII", ino, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, os.getuid(),
                           os.getgid(), 0, 4096, 0)

    def serve(self):
        while True:
            try:
                data = os.read(self.dev, 1 << 20)
            except OSError:
                return
            _, op, unique, node = struct.unpack_from("<IIQQ", data)
            while self.stopped:
                select.select([], [], [], 0.05)
            error, out = 0, b""
            if op == 26:  # INIT: EXT, and PASSTHROUGH (bit 37) with one layer
                out = struct.pack("<IIIIHHIIHHII24x", 7, 40, 1 << 17, 1 << 30, 12, 9, 1 << 17, 1, 32, 0,
                                  1 << 5, 1)
            elif op == 1:  # LOOKUP
                if data[40:].rstrip(b"\0") == b"f":
                    out = struct.pack("<QQQQII", 2, 0, 0, 0, 0, 0) + self.attr(2)
                else:
                    error = -errno.ENOENT
            elif op == 3:  # GETATTR
                out = struct.pack("<QII", 0, 0, 0) + self.attr(node)
            elif op == 14:  # OPEN
                out = struct.pack("<QIi", 1, FOPEN_PASSTHROUGH if self.id else 0, self.id)
            elif op in (2, 42, 38):  # FORGET, BATCH_FORGET, DESTROY: no answer
                continue
            elif op not in (18, 25, 4, 20):  # RELEASE, FLUSH, SETATTR, FSYNC
                error = -errno.ENOSYS
            elif op == 4:
                out = struct.pack("<QII", 0, 0, 0) + self.attr(node)
            try:
                os.write(self.dev, struct.pack("<IiQ", 16 + len(out), error, unique) + out)
            except OSError:
                pass


class Service:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(60)
        self.sock.connect(path)

    def send(self, data, fds):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        for _ in range(600):
            try:
                self.sock.sendmsg([data], rights)
                return
            except PermissionError:  # not taken up yet
                select.select([], [], [], 0.05)
        raise TimeoutError("the service takes no descriptors")

    def open(self, writable, *fds):
        """The id, or the name of the error."""
        return self.ask(struct.pack("<III", VERSION, OPEN, int(writable)), fds)

    def ask(self, message, fds):
        self.send(message, fds)
        data = self.sock.recv(64)
        if not data:
            return "closed"
        version, kind, number, error = struct.unpack("<IIII", data)
        assert (version, kind) == (VERSION, OPENED) and bool(number) != bool(error)
        return number or errno.errorcode[error]

    def close(self, dev, *ids):
        self.send(struct.pack(f"<III{len(ids)}I", VERSION, CLOSE, len(ids), *ids), [dev])


def said(name, what):
    print(f"{name}: {'registered' if isinstance(what, int) else what}", flush=True)


def through(fuse, number, flags, what):
    """Opens the mount's file with this id; what does something with the descriptor."""
    fuse.id = number
    try:
        fd = os.open(fuse.path, flags)
    except OSError as e:
        return errno.errorcode[e.errno]
    try:
        return what(fd)
    except OSError as e:
        return errno.errorcode[e.errno]
    finally:
        os.close(fd)


def received(sock):
    """What somebody sends over this socket."""
    _, rights, _, _ = socket.recv_fds(sock, 16, 16)
    return list(rights)


def descriptors(s, dev, mine, secret):
    """Files that must not be registered for writing, and the one that may."""
    own = os.path.join(mine, "own")
    with open(own, "w", encoding="ascii") as f:
        f.write("own")
    flags = {"own O_RDWR": os.O_RDWR, "own O_RDONLY": os.O_RDONLY, "own O_WRONLY": os.O_WRONLY,
             "own O_RDWR|O_APPEND": os.O_RDWR | os.O_APPEND, "own O_PATH": os.O_PATH}
    for name, how in flags.items():
        said(name, s.open(True, dev, os.open(own, how)))
    said("both O_RDWR", s.open(True, dev, os.open(secret + "/both", os.O_RDWR)))
    said("open O_RDONLY", s.open(True, dev, os.open(secret + "/open", os.O_RDONLY)))
    said("shut O_PATH", s.open(True, dev, os.open(secret + "/shut", os.O_PATH)))
    os.mkfifo(os.path.join(mine, "fifo"))
    said("a pipe with a name", s.open(True, dev, os.open(os.path.join(mine, "fifo"), os.O_RDWR)))
    said("a pipe", s.open(True, dev, os.pipe()[0]))
    said("a directory", s.open(True, dev, os.open(mine, os.O_RDONLY)))
    said("a device", s.open(True, dev, os.open("/dev/zero", os.O_RDWR)))
    said("memory", s.open(True, dev, os.memfd_create("m")))
    fd = os.open(own, os.O_RDWR)
    os.chmod(own, 0o400)
    said("own, and then 0400", s.open(True, dev, fd))
    os.chmod(own, 0o600)


def connections(s, path, dev, own):
    fresh = os.open("/dev/fuse", os.O_RDWR)
    said("/dev/fuse without a mount", s.open(True, fresh, own))
    said("a file as /dev/fuse", s.open(True, own, own))
    said("/dev/null as /dev/fuse", s.open(True, os.open("/dev/null", os.O_RDWR), own))
    said("another process, the same mount", Service(path).open(True, dev, own))


def reading(s, fuse, secret):
    """A file of root's is registered for reading: the kernel's open for writing must fail."""
    top = os.open(secret, os.O_PATH)
    fd = os.open(secret + "/open", os.O_RDONLY)
    number = s.open(False, fuse.dev, fd, top)
    said("open for reading", number)
    if not isinstance(number, int):
        return
    said("reads it", through(fuse, number, os.O_RDONLY, lambda f: os.pread(f, 4, 0).decode()))
    for name, how in (("O_RDWR", os.O_RDWR), ("O_WRONLY", os.O_WRONLY)):
        said("opens it " + name, through(fuse, number, how, lambda f: str(os.pwrite(f, b"evil", 0))))
    said("without its directory", s.open(False, fuse.dev, fd, os.open("/proc", os.O_PATH)))
    said("shut, O_PATH, for reading",
         s.open(False, fuse.dev, os.open(secret + "/shut", os.O_PATH), top))


def writing(s, fuse, mine):
    own = os.path.join(mine, "own")
    number = s.open(True, fuse.dev, os.open(own, os.O_RDWR))
    through(fuse, number, os.O_RDWR, lambda f: os.pwrite(f, b"new", 0))
    with open(own, encoding="ascii") as f:
        said("own, written through the mount", f.read())


def given(s, fuse, given_fds, secret):
    """Descriptors of root's and of another user's, which the user has got by a socket."""
    shut, shut_read, foreign = given_fds
    top = os.open(secret, os.O_PATH)
    said("shut, opened by root", s.open(True, fuse.dev, shut))
    said("shut, opened by root for reading", s.open(False, fuse.dev, shut_read, top))
    said("another user's mount", s.open(True, foreign, shut))


def blocked(s, path, fuse, own, points):
    """A file of the user's own mount that has stopped: only the process that closes it waits."""
    slow = Fuse(os.path.join(points, "slow"))
    fd = os.open(slow.path, os.O_RDWR)
    slow.stopped = True
    said("a file of a stopped mount", Service(path).open(True, slow.dev, fd))
    said("such a file as /dev/fuse", Service(path).open(True, fd, fd))
    said("another session meanwhile", s.open(True, fuse.dev, own))
    slow.stopped = False
    os.close(fd)  # at our end it could be the last that is closed, and nobody would answer


def latency():
    """How long the processors may sleep, in microseconds."""
    with open("/dev/cpu_dma_latency", "rb", buffering=0) as f:
        return struct.unpack("<i", f.read(4))[0]


def awake(path, own):
    s, (reads, writes) = Service(path), os.pipe()
    message = struct.pack("<II", VERSION, AWAKE)
    said("awake, a file", s.ask(message, [own]))
    said("awake, a pipe", s.ask(message, [reads]))
    os.write(writes, struct.pack("<i", 0))
    for _ in range(200):  # others may want it as well: what comes after our word says nothing
        if latency() == 0:
            break
        select.select([], [], [], 0.05)
    said("latency", str(latency()))
    for _ in range(8):
        s.ask(message, [reads])
    said("awake, a tenth pipe", s.ask(message, [reads]))


def counts(path, points, own):
    s, fuse = Service(path), Fuse(os.path.join(points, "many"))
    ids = []
    while len(ids) <= IDS_MAX:
        number = s.open(True, fuse.dev, own)
        if not isinstance(number, int):
            break
        ids.append(number)
    said(f"after {len(ids)} ids", number)
    s.close(fuse.dev, ids[0])
    said("one closed", s.open(True, fuse.dev, own))
    served, of_four = [], None
    for i in range(200):
        of_four = of_four if i % 4 else Service(path)
        served.append((of_four, Fuse(os.path.join(points, f"m{i}"))))
        number = served[-1][0].open(True, served[-1][1].dev, own)
        if not isinstance(number, int):
            break
    said("after 128 mounts" if i > 120 else f"after {i} mounts", number)
    for of_four, mount in served[:-1]:
        for i in range(256):  # enforcer/hostd/bounds.c: IDS_STEP
            number = of_four.open(True, mount.dev, own)
            if not isinstance(number, int):
                said("many of many mounts", number)
                return


def left(path, points, mine):
    """Ids that their user leaves behind: with them the service gives the file's space back."""
    def free():
        return os.statvfs(mine).f_bfree

    for name, mode in (("another client, which ends", 1), ("another mount, unmounted, /dev/fuse kept", 2)):
        s, fuse = Service(path), Fuse(os.path.join(points, f"left{mode}"))
        before, large = free(), os.path.join(mine, "large")
        with open(large, "w+b") as f:
            f.write(bytes(4 << 20))
            f.flush()
            said(name, s.open(True, fuse.dev, f.fileno()))
        os.unlink(large)
        during = free()
        if mode == 1:
            s.sock.close()
        elif libc.umount2(fuse.path[:-2].encode(), 0) != 0:
            raise OSError(ctypes.get_errno(), "umount")
        for _ in range(1200):
            if free() >= before:
                break
            select.select([], [], [], 0.05)
        said("kept until then, and then given up", (during < before, free() >= before))


def nonsense(path, dev, own):
    for name, data, fds in (
            ("too short", b"\1\0\0\0", []), ("another version", struct.pack("<III", 9, OPEN, 1), [dev, own]),
            ("another type", struct.pack("<II", VERSION, 5), []), ("no file", struct.pack("<III", VERSION, OPEN, 1), [dev]),
            ("too many", struct.pack("<III", VERSION, OPEN, 1), [dev, own, own, own]),
            ("longer", struct.pack("<IIII", VERSION, OPEN, 1, 1), [dev, own]),
            ("ids that are not there", struct.pack("<III", VERSION, CLOSE, 200), [dev])):
        s = Service(path)
        s.send(data, fds)
        said("nonsense, " + name, "closed" if s.sock.recv(64) == b"" else "answered")


def main():
    signal.alarm(600)  # nobody else ends what waits for a mount of ours
    path, points = sys.argv[1:3]
    # Files lie on the mounts of the host; those of the same name in our namespace are others.
    mine, secret = (f"/proc/self/fd/{os.open(d, os.O_PATH)}" for d in sys.argv[2:])
    pair = socket.socket(fileno=0)
    own_namespaces()
    with open(points + "/elsewhere", "w+b") as elsewhere:
        fuse, s = Fuse(os.path.join(points, "mount")), Service(path)
        said("a file on a mount of its own namespace", s.open(True, fuse.dev, elsewhere.fileno()))
    descriptors(s, fuse.dev, mine, secret)
    own = os.open(os.path.join(mine, "own"), os.O_RDWR)
    connections(s, path, fuse.dev, own)
    writing(s, fuse, mine)
    reading(s, fuse, secret)
    given(s, fuse, received(pair), secret)
    blocked(s, path, fuse, own, points)
    awake(path, own)
    left(path, points, mine)
    nonsense(path, fuse.dev, own)
    counts(path, points, own)
    said("and after all that", s.open(True, fuse.dev, own))
    os._exit(0)  # the threads that serve would keep us


main()
