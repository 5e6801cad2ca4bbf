# SPDX-License-Identifier: Apache-2.0
# Part of ../ways.sh.
import ctypes, errno, fcntl, mmap, os, socket, stat, struct, sys
where, back = sys.argv[1], os.fsencode(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = libc.mmap.restype = ctypes.c_void_p
OLD = b"o" * 8192
# Each attempt has a directory of its own, D, and one beside that it may write to, S.
D = S = P = None

def sc(nr, *a):
    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_long(x) if isinstance(x, int) else x for x in a])
    r = ctypes.c_long(r or 0).value
    if r < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r
def any_fd():
    """The file, opened with the widest rights we get: for this program's own use."""
    for flags in (os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_APPEND, os.O_RDONLY, os.O_PATH):
        try:
            return os.open(P, flags)
        except OSError as e:
            last = e
    raise last
def by_fd(what, *a):
    return lambda: what(any_fd(), *a)
def by_path_fd(what, *a):
    return lambda: what(os.open(P, os.O_PATH), *a)
def put(fd):
    os.pwrite(fd, b"X", 0)
def source(name="src"):
    with open(S + "/" + name, "wb") as f:
        f.write(b"X" * 8192)
    return os.open(S + "/" + name, os.O_RDWR)
def iov(text):
    buf = ctypes.create_string_buffer(text, len(text))
    return buf, struct.pack("QQ", ctypes.addressof(buf), len(text))

def reopened(fd, flags):
    put(os.open("/proc/self/fd/%d" % fd, flags))
def by(prefix):
    return lambda: put(os.open("%s%s/%s" % (prefix, os.getcwd(), P), os.O_WRONLY))
def pwritev2(fd, flag):
    buf, v = iov(b"X")
    sc(328, fd, v, 1, 0, 0, flag)
def spliced(fd):
    r, w = os.pipe()
    os.write(w, b"X" * 100)
    os.splice(r, fd, 100, offset_dst=0)
def vmspliced(fd):
    r, w = os.pipe()
    buf, v = iov(b"X" * 100)
    sc(278, w, v, 1, 0)
    os.splice(r, fd, 100, offset_dst=0)
def sent(fd):
    os.lseek(fd, 0, 0)
    os.sendfile(fd, source(), 0, 100)
def copied(fd):
    os.copy_file_range(source(), fd, 100, 0, 0)
def ioctl(fd, request, *arg):
    fcntl.ioctl(fd, request, struct.pack(*arg))
def cloned(fd):
    fcntl.ioctl(fd, 0x40049409, source())
def cloned_range(fd):
    ioctl(fd, 0x4020940D, "qQQQ", source(), 0, 4096, 0)
def deduped(fd):
    arg = bytearray(struct.pack("QQHHIqQQiI", 0, 4096, 1, 0, 0, fd, 0, 0, 0, 0))
    fcntl.ioctl(source(), 0xC0189436, arg)
    status = struct.unpack_from("i", arg, 48)[0]
    if status < 0:
        raise OSError(-status, "")
def space(fd, request, size):
    # struct space_resv of linux/falloc.h
    ioctl(fd, request, "hhqqiI4I", 0, 0, 0, size, 0, 0, 0, 0, 0, 0)
def fallocate(fd, mode, size=4096):
    sc(285, fd, mode, 0, size)
def mapped(fd):
    m = mmap.mmap(fd, 8192)
    m[0:1] = b"X"
    m.flush()
def protected(fd):
    a = libc.mmap(None, ctypes.c_size_t(8192), 1, 1, fd, ctypes.c_long(0))
    if a == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    if libc.mprotect(ctypes.c_void_p(a), ctypes.c_size_t(8192), 3) < 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    ctypes.memmove(a, b"X", 1)
def setfl(fd, flags):
    fcntl.fcntl(fd, fcntl.F_SETFL, flags)
    os.lseek(fd, 0, 0)
    os.write(fd, b"X")
def direct(fd):
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_DIRECT)
    m = mmap.mmap(-1, 4096)
    m[:] = b"X" * 4096
    os.pwritev(fd, [m], 0)
def renameat2(a, b, flags):
    sc(316, -100, os.fsencode(a), -100, os.fsencode(b), flags)
def unnamed(at):
    fd = os.open(at, os.O_TMPFILE | os.O_RDWR)
    os.write(fd, b"X")
    sc(265, -100, b"/proc/self/fd/%d" % fd, -100, os.fsencode(D + "/unnamed"), 0x400)
def linked_out():
    os.link(P, S + "/link")
    put(os.open(S + "/link", os.O_WRONLY))
def linked_out_by(fd):
    sc(265, -100, b"/proc/self/fd/%d" % fd, -100, os.fsencode(S + "/link"), 0x400)
    put(os.open(S + "/link", os.O_WRONLY))
def linked_in():
    os.close(source())
    os.link(S + "/src", D + "/src")
def over():
    os.close(source())
    os.rename(S + "/src", P)
def exchanged(swap):
    os.close(source())
    a, b = (P, S + "/src") if swap else (S + "/src", P)
    renameat2(a, b, 2)
def exchanged_dirs():
    os.mkdir(S + "/dir")
    renameat2(S + "/dir", D + "/sub", 2)
def moved():
    os.rename(D, S + "/moved")
    put(os.open(S + "/moved/f", os.O_WRONLY))
def moved_there_and_back():
    os.rename(D + "/sub", S + "/sub")
    put(os.open(S + "/sub/g", os.O_WRONLY))
    os.rename(S + "/sub", D + "/sub")
def handle():
    # name_to_handle_at(2), open_by_handle_at(2)
    h = bytearray(136)
    struct.pack_into("I", h, 0, 128)
    buf, mount = (ctypes.c_char * len(h)).from_buffer(h), ctypes.c_int()
    sc(303, -100, os.fsencode(P), buf, ctypes.byref(mount), 0)
    put(sc(304, os.open(".", os.O_RDONLY), buf, os.O_WRONLY))
def acl(name, at):
    entries = struct.pack("<I", 2)
    for tag, bits in ((1, 7), (4, 0), (0x20, 0)):
        entries += struct.pack("<HHI", tag, bits, 0xffffffff)
    os.setxattr(at, name, entries)
def socket_made():
    socket.socket(socket.AF_UNIX).bind(D + "/socket")
def by_mode_3():
    fd = os.open(P, 3)
    put(fd)

ways = {
    "write": by_fd(put),
    "reopen rw": by_fd(reopened, os.O_RDWR), "reopen w": by_fd(reopened, os.O_WRONLY),
    "reopen O_PATH": by_path_fd(reopened, os.O_WRONLY),
    "reopen truncated": by_path_fd(reopened, os.O_RDWR | os.O_TRUNC),
    "/proc/self/root": by("/proc/self/root"), "/proc/PID/root": by("/proc/%d/root" % os.getpid()),
    "RWF_NOAPPEND": by_fd(pwritev2, 0x20), "RWF_APPEND": by_fd(pwritev2, 0x10), "pwritev2": by_fd(pwritev2, 0),
    "splice": by_fd(spliced), "vmsplice": by_fd(vmspliced), "sendfile": by_fd(sent), "copy": by_fd(copied),
    "FS_IOC_SETFLAGS": by_fd(ioctl, 0x40086602, "q", 0x20), "32 bits": by_fd(ioctl, 0x40046602, "i", 0x20),
    "FS_IOC_FSSETXATTR": by_fd(ioctl, 0x401C5820, "7I", 8, 0, 0, 0, 0, 0, 0),
    "FS_IOC_SETVERSION": by_fd(ioctl, 0x40087602, "q", 1), "FS_IOC_FIEMAP": by_fd(ioctl, 0xC020660B, "QQQQ", 0, 1, 0, 0),
    "FICLONE": by_fd(cloned), "FICLONERANGE": by_fd(cloned_range), "FIDEDUPERANGE": by_fd(deduped),
    "FS_IOC_ZERO_RANGE": by_fd(space, 0x40305839, 4096), "FS_IOC_UNRESVSP": by_fd(space, 0x4030582B, 4096),
    "punch": by_fd(fallocate, 3), "zero": by_fd(fallocate, 0x10), "zero, same size": by_fd(fallocate, 0x11),
    "collapse": by_fd(fallocate, 8), "insert": by_fd(fallocate, 0x20), "unshare": by_fd(fallocate, 0x40),
    "write zeroes": by_fd(fallocate, 0x80), "extend": by_fd(fallocate, 0, 9000),
    "truncate": lambda: os.truncate(P, 1), "ftruncate": by_fd(os.ftruncate, 1),
    "mmap": by_fd(mapped), "mprotect": by_fd(protected),
    "F_SETFL": by_fd(setfl, 0), "O_DIRECT": by_fd(direct), "mode 3": by_mode_3,
    "link out": linked_out, "link out by O_PATH": by_path_fd(linked_out_by), "link in": linked_in,
    "replace": over, "exchange": lambda: exchanged(False), "exchange back": lambda: exchanged(True),
    "exchange directories": exchanged_dirs, "whiteout": lambda: renameat2(P, S + "/w", 4),
    "move": moved, "move there and back": moved_there_and_back,
    "unlink": lambda: os.unlink(P), "rmdir": lambda: os.rmdir(D + "/empty"),
    "O_TMPFILE from elsewhere": lambda: unnamed(S), "O_TMPFILE": lambda: unnamed(D),
    "create": lambda: os.close(os.open(D + "/new", os.O_CREAT | os.O_WRONLY)),
    "mkdir": lambda: os.mkdir(D + "/newdir"), "symlink": lambda: os.symlink("x", D + "/newlink"),
    "fifo": lambda: os.mkfifo(D + "/fifo"), "socket": socket_made,
    "device": lambda: os.mknod(D + "/dev", 0o20600, os.makedev(1, 3)),
    "device 0:0": lambda: os.mknod(D + "/white", 0o20600, 0),
    "file handle": handle, "fchmodat2": by_path_fd(lambda fd: sc(452, fd, b"", 0o601, 0x1000)),
    "chmod": lambda: os.chmod(P, 0o601), "fchmod": by_fd(os.fchmod, 0o601), "chown": lambda: os.chown(P, 7, 7),
    "utimes": lambda: os.utime(P, ns=(1, 1)), "futimes": by_fd(lambda fd: os.utime(fd, ns=(1, 1))),
    "ACL": lambda: acl("system.posix_acl_access", P), "default ACL": lambda: acl("system.posix_acl_default", D),
    "setxattr": lambda: os.setxattr(P, "user.a", b"1"), "fsetxattr": by_fd(os.setxattr, "user.a", b"1"),
    "removexattr": lambda: os.removexattr(P, "user.old"),
    "setxattrat": lambda: sc(463, -100, os.fsencode(P), 0, b"user.a", struct.pack("QII", 0, 0, 0), 16),
}
# What nobody gets through the guard; FUSE has no request for it, or it takes capabilities that
# nobody has.
nobody = {"FS_IOC_SETFLAGS", "32 bits", "FS_IOC_FSSETXATTR", "FS_IOC_SETVERSION", "FS_IOC_FIEMAP", "FICLONE",
          "FICLONERANGE", "FIDEDUPERANGE", "collapse", "insert", "unshare", "write zeroes", "mode 3",
          "device", "file handle", "chown"}
# What older kernels have not, and what is not to be had rootless.
may_lack = {"RWF_NOAPPEND", "fchmodat2", "setxattrat", "ACL", "default ACL", "O_DIRECT"}
# What adds to a file, or makes a new one, is what may be done where one may append.
appends = {"write", "RWF_NOAPPEND", "RWF_APPEND", "pwritev2", "F_SETFL", "O_DIRECT", "link in",
           "O_TMPFILE from elsewhere", "O_TMPFILE", "create", "mkdir", "symlink", "fifo", "socket",
           "device 0:0"}

def state(at):
    """All that stands at and beneath a directory, as the host sees it; no times of what is read."""
    out = {}
    for root, dirs, files in os.walk(at):
        for p in [root] + [os.path.join(root, n) for n in files]:
            st = os.lstat(p)
            data = b""
            if stat.S_ISREG(st.st_mode):
                with open(p, "rb") as f:
                    data = f.read()
            x = () if stat.S_ISLNK(st.st_mode) else tuple((n, os.getxattr(p, n)) for n in sorted(os.listxattr(p)))
            times = 0 if stat.S_ISDIR(st.st_mode) else st.st_mtime_ns
            out[p[len(at):]] = (data, times, st.st_mode, st.st_uid, st.st_gid, st.st_ino, x,
                                0 if stat.S_ISDIR(st.st_mode) else st.st_nlink)
    return out
def attempt(what):
    pid = os.fork()
    if not pid:
        try:
            what()
        except OSError as e:
            os._exit(e.errno)
        except BaseException as e:
            print(repr(e), flush=True)
            os._exit(255)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
def check(name, i):
    global D, S, P
    D, S = "%s/%d" % (where, i), "side/%s-%d" % (where, i)
    P = D + "/f"
    os.mkdir(S)
    before = state(back + b"/" + os.fsencode(D))
    rc = attempt(ways[name])
    after = state(back + b"/" + os.fsencode(D))
    says = "%s in %s: %s" % (name, where, errno.errorcode.get(rc, rc))
    if rc < 0 or rc == 255:
        sys.exit("FAIL: " + says)
    if where == "free":
        if name in nobody and rc == 0:
            sys.exit("FAIL: allowed: " + says)
        if name not in nobody | may_lack and (rc or before == after):
            sys.exit("FAIL: control: " + says)
        return
    if name not in appends or where != "log":
        if rc == 0:
            sys.exit("FAIL: allowed: " + says)
        if before != after:
            sys.exit("FAIL: changed: " + says)
    if where == "hid" and rc != errno.ENOENT:
        sys.exit("FAIL: it shows: " + says)
    # log: what stood there is there, with more behind it
    for p, was in before.items():
        now = after.get(p)
        if not now or not now[0].startswith(was[0]) or now[2:] != was[2:]:
            sys.exit("FAIL: changed: %s: %r" % (says, p))
for i, name in enumerate(ways):
    check(name, i)
