# SPDX-License-Identifier: Apache-2.0
# Part of ../borders.sh.
import ctypes
import errno
import mmap
import os
import shutil
import socket
import struct
import sys

control = sys.argv[1] == "free"
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
LIMIT, FILES = 1 << 20, 100
W, RW = os.O_WRONLY | os.O_CREAT, os.O_RDWR | os.O_CREAT
EXCHANGE, NOREPLACE = 2, 1


def call(nr, *args):
    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_long(x) if isinstance(x, int) else x for x in args])
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return r


def aio_write(fd, off):
    """io_setup(2), io_submit(2), io_getevents(2), io_destroy(2)"""
    context, done = ctypes.c_ulong(0), ctypes.create_string_buffer(32)
    data = ctypes.create_string_buffer(b"X", 1)
    call(206, 1, ctypes.byref(context))
    # struct iocb of linux/aio_abi.h; 1: IOCB_CMD_PWRITE
    block = ctypes.create_string_buffer(
        struct.pack("QIiHhIQQqQII", 0, 0, 0, 1, 0, fd, ctypes.addressof(data), 1, off, 0, 0, 0))
    at = ctypes.c_void_p(ctypes.addressof(block))
    try:
        call(209, ctypes.c_ulong(context.value), 1, ctypes.byref(at))
        call(208, ctypes.c_ulong(context.value), 1, 1, done, None)
    finally:
        call(207, ctypes.c_ulong(context.value))
    r = struct.unpack("QQqq", done.raw)[2]
    if r < 0:
        raise OSError(-r, os.strerror(-r))


def make(path, size=0, flags=W):
    fd = os.open(path, flags, 0o644)
    if size:
        os.ftruncate(fd, size)
    return fd


def unnamed(where):
    return os.open(where, os.O_TMPFILE | os.O_RDWR, 0o644)


def name(fd, path):
    call(265, -100, b"/proc/self/fd/%d" % fd, -100, os.fsencode(path), 0x400)  # AT_SYMLINK_FOLLOW


def rename2(a, b, flags):
    call(316, -100, os.fsencode(a), -100, os.fsencode(b), flags)


def fallocated(fd, mode, size):
    call(285, fd, mode, 0, size)


def grown_then_named():
    fd = unnamed("free")
    os.ftruncate(fd, 2 * LIMIT)
    name(fd, "q/in")


def named_out_grown_in():
    name(unnamed("q"), "free/out")
    os.truncate("free/out", 2 * LIMIT)
    os.link("free/out", "q/in")


def grown_by_other_name():
    make("free/f")
    os.link("free/f", "q/f")
    os.truncate("free/f", 2 * LIMIT)


def out_grown_in():
    fd = make("q/a")
    os.rename("q/a", "free/a")
    os.ftruncate(fd, 2 * LIMIT)
    os.rename("free/a", "q/a")


def dir_out_grown_in():
    os.mkdir("q/d")
    fd = make("q/d/a")
    os.rename("q/d", "free/d")
    os.ftruncate(fd, 2 * LIMIT)
    os.rename("free/d", "q/d")


def exchanged():
    make("free/big", 2 * LIMIT)
    make("q/small")
    rename2("free/big", "q/small", EXCHANGE)


def dirs_exchanged():
    os.mkdir("free/d")
    os.mkdir("q/d")
    make("free/d/big", 2 * LIMIT)
    rename2("free/d", "q/d", EXCHANGE)


def handed_over():
    here, there = socket.socketpair()
    socket.send_fds(here, [b"x"], [make("q/a", 0, RW)])
    fd = socket.recv_fds(there, 1, 1)[1][0]
    here.close()
    there.close()
    os.unlink("q/a")
    os.ftruncate(os.open("/proc/self/fd/%d" % fd, os.O_RDWR), 2 * LIMIT)


def many(what):
    def run():
        for i in range(2 * FILES):
            what("q/few/%d" % i)
    return run


def bound(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)


def through_outside(path):
    os.mknod(path, 0o10644)
    os.rename(path, "free/p")
    os.rename("free/p", path)


def new_reopened():
    fd = make("log/new", 0, RW | os.O_EXCL)
    os.write(fd, b"first")
    os.pwrite(os.open("/proc/self/fd/%d" % fd, os.O_RDWR), b"X", 0)


def unnamed_overwritten():
    fd = unnamed("log")
    os.write(fd, b"first")
    name(fd, "log/new2")
    os.pwrite(fd, b"X", 0)


def unnamed_mapped():
    fd = unnamed("log")
    os.write(fd, b"o" * 4096)
    with mmap.mmap(fd, 4096) as m:
        name(fd, "log/new3")
        m[0:1] = b"X"


def child_reopens():
    fd = os.open("log/log", os.O_WRONLY | os.O_APPEND)
    pid = os.fork()
    if not pid:
        status = 0
        try:
            os.pwrite(os.open("/proc/%d/fd/%d" % (os.getppid(), fd), os.O_RDWR), b"X", 0)
        except OSError as e:
            status = e.errno
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        raise OSError(status, os.strerror(status))


def watched():
    fd = libc.inotify_init()
    r = libc.inotify_add_watch(fd, b"key.pem", 0xfff)
    e = ctypes.get_errno()
    os.close(fd)
    if r < 0:
        raise OSError(e, os.strerror(e))


def linked():
    os.symlink("../key.pem", "free/s")
    os.close(os.open("free/s", os.O_RDONLY))


def by_directory():
    fd = os.open(".", os.O_PATH | os.O_DIRECTORY)
    os.close(os.open("/proc/self/fd/%d/key.pem" % fd, os.O_RDONLY))


def answers(path):
    make("free/x")
    out = []
    for what in (lambda: os.mkdir(path), lambda: os.link("free/x", path), lambda: os.rmdir(path),
                 lambda: os.rename("free/x", path + "/x"), lambda: rename2("free/x", path, NOREPLACE),
                 lambda: rename2(path, "free/x", EXCHANGE), lambda: bound(path), lambda: os.mkfifo(path),
                 lambda: os.open(path, os.O_PATH), lambda: os.getxattr(path, "user.wardfs.why"),
                 lambda: os.open(path, W | os.O_EXCL)):
        try:
            what()
            out.append(0)
        except OSError as e:
            out.append(e.errno)
        if out[-1] == 0 and path != "key.pem" and os.path.lexists(path):
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)
            make("free/x")
    return out


def told_apart():
    there, absent = answers("key.pem"), answers("absent.pem")
    if there == absent:
        raise OSError(errno.ENOENT, "the same")


# what, and the errno that stops it
D, X, A, N = errno.EDQUOT, errno.EXDEV, errno.EACCES, errno.ENOENT
attempts = {
    "asynchronous write": (lambda: aio_write(make("q/a"), 2 * LIMIT), D),
    "truncate(2) of a descriptor": (lambda: os.truncate("/proc/self/fd/%d" % make("q/a"), 2 * LIMIT), D),
    "space that is zeroed": (lambda: fallocated(make("q/a"), 0x10, 2 * LIMIT), D),
    "grown, then named": (grown_then_named, X),
    "named outside, grown, linked in": (named_out_grown_in, X),
    "grown by another name": (grown_by_other_name, X),
    "moved out, grown, moved in": (out_grown_in, X),
    "directory moved out and in": (dir_out_grown_in, X),
    "exchanged": (exchanged, X),
    "directories exchanged": (dirs_exchanged, X),
    "handed over, removed, opened anew": (handed_over, D),
    "sockets": (many(bound), D),
    "files without a name": (many(lambda path: unnamed("q/few")), D),
    "moved out and in": (many(through_outside), X),
    "new, opened anew": (new_reopened, A),
    "without a name, overwritten": (unnamed_overwritten, A),
    "without a name, mapped": (unnamed_mapped, A),
    "opened anew by a child": (child_reopens, A),
    "inotify": (watched, N),
    "symbolic link": (linked, N),
    "by a directory": (by_directory, N),
    "errors": (told_apart, N),
}
first = os.open("/dev/null", os.O_RDONLY)
os.close(first)
for what, (run, want) in attempts.items():
    shutil.rmtree("free", ignore_errors=True)
    os.makedirs("free")
    for path in ("q", "q/few"):
        for entry in os.scandir(path):
            if entry.name != "few":
                (shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.path)
    got = 0
    try:
        run()
    except OSError as e:
        got = e.errno
    os.closerange(first, 1024)
    if got != (0 if control else want):
        sys.exit(f"FAIL: {what}: {os.strerror(got)}")
    size = sum(os.lstat(os.path.join(at, f)).st_size for at, _, names in os.walk("q") for f in names)
    if not control and size > LIMIT:
        sys.exit(f"FAIL: {what}: {size} bytes in the quota")
    with open("log/log", "rb") as f:
        if not control and f.read(1) != b"o":
            sys.exit(f"FAIL: {what}: log changed")
