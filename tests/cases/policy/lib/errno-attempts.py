# SPDX-License-Identifier: Apache-2.0
# Part of ../errno.sh.
import ctypes, errno, fcntl, mmap, os, shutil, socket, stat, subprocess

wardfs = os.path.join(os.environ["WARD_BUILD"], "wardfs")
source, mount = os.getcwd() + "/source", os.getcwd() + "/mount"
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = -100, 1, 2, 4
O_TMPFILE = 0o20000000 | os.O_DIRECTORY


def opened(flags):
    return lambda p: os.close(os.open(p, flags, 0o644))


def execute(p):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(p, [p])
        except OSError as e:
            os._exit(e.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        raise OSError(status, os.strerror(status))


def renameat2(a, b, flags):
    if libc.renameat2(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), flags):
        raise OSError(ctypes.get_errno(), a)


def exchange(p):
    renameat2(p + ".other", p, RENAME_EXCHANGE)


def asked(mode):
    """access(2); Python's answers yes or no."""
    def f(p):
        if libc.access(p.encode(), mode):
            raise OSError(ctypes.get_errno(), p)
    return f


def unnamed(p):
    """A file without a name in the directory p, and a name for it."""
    fd = os.open(p, os.O_RDWR | O_TMPFILE, 0o600)
    proc = os.open("/proc", os.O_PATH)
    try:
        # without a directory Python calls link(2), which follows nothing
        os.link(f"self/fd/{fd}", p + "/linked", src_dir_fd=proc, follow_symlinks=True)
    finally:
        os.close(proc)
        os.close(fd)


def sock(p):
    with socket.socket(socket.AF_UNIX) as s:
        # sun_path has room for 108 bytes
        os.chdir(os.path.dirname(p))
        try:
            s.bind(os.path.basename(p))
        finally:
            os.chdir("/")


def mapped(p):
    """A mapping that can be written to."""
    fd = os.open(p, os.O_RDWR)
    try:
        mmap.mmap(fd, 1).close()
    finally:
        os.close(fd)


def allocated(flags):
    def f(p):
        fd = os.open(p, flags)
        try:
            os.posix_fallocate(fd, 0, os.fstat(fd).st_size + 10)
        finally:
            os.close(fd)
    return f


def copied(p):
    """copy_file_range from the other file."""
    to = os.open(p, os.O_WRONLY)
    try:
        fd = os.open(p + ".other", os.O_RDONLY)
        try:
            os.copy_file_range(fd, to, 10, 0, 0)
        finally:
            os.close(fd)
    finally:
        os.close(to)


def locked(p):
    fd = os.open(p, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    finally:
        os.close(fd)


def device(p):
    os.mknod(p, stat.S_IFCHR | 0o600, os.makedev(1, 3))


def enter(p):
    os.chdir(p)
    os.chdir("/")


FILE, DIR, LINK, NONE = range(4)
# The operation, and what is there before: at P, and at P.other for those that take two names.
OPERATIONS = {
    "stat": (os.lstat, FILE),
    "access: exists": (asked(os.F_OK), FILE),
    "access: readable": (asked(os.R_OK), FILE),
    "access: executable": (asked(os.X_OK), FILE),
    "access: writable": (asked(os.W_OK), FILE),
    "statfs": (os.statvfs, FILE),
    "readlink": (os.readlink, LINK),
    "list a directory": (os.listdir, DIR),
    "enter a directory": (enter, DIR),
    "open for reading": (opened(os.O_RDONLY), FILE),
    "lock (flock)": (locked, FILE),
    "list extended attributes": (os.listxattr, FILE),
    "read an extended attribute": (lambda p: os.getxattr(p, "user.x"), FILE),
    "execute": (execute, FILE),
    "open for appending": (opened(os.O_WRONLY | os.O_APPEND), FILE),
    "open for writing": (opened(os.O_WRONLY), FILE),
    "open for writing or create, the name exists": (opened(os.O_WRONLY | os.O_CREAT), FILE),
    "allocate space (fallocate)": (allocated(os.O_WRONLY), FILE),
    "copy_file_range into it": (copied, FILE),
    "map shared, writable": (mapped, FILE),
    "truncate": (lambda p: os.truncate(p, 0), FILE),
    "change mode": (lambda p: os.chmod(p, 0o600), FILE),
    "change owner": (lambda p: os.chown(p, -1, os.getegid()), FILE),
    "set times to now": (lambda p: os.utime(p), FILE),
    "set times": (lambda p: os.utime(p, (1, 1)), FILE),
    "set an extended attribute": (lambda p: os.setxattr(p, "user.y", b"1"), FILE),
    "remove an extended attribute": (lambda p: os.removexattr(p, "user.x"), FILE),
    "unlink": (os.unlink, FILE),
    "remove a directory": (os.rmdir, DIR),
    "rename away": (lambda p: os.rename(p, p + ".new"), FILE),
    "link away": (lambda p: os.link(p, p + ".new"), FILE),
    "create a file": (opened(os.O_WRONLY | os.O_CREAT | os.O_EXCL), NONE),
    "make a directory": (os.mkdir, NONE),
    "make a pipe": (os.mkfifo, NONE),
    "make a socket (bind)": (sock, NONE),
    "make a device, but for the character device 0:0": (device, NONE),
    "a file without a name (`O_TMPFILE`) in a directory, and a name for it there": (unnamed, DIR),
    "make a symbolic link": (lambda p: os.symlink("x", p), NONE),
    "rename to a new name": (lambda p: os.rename(p + ".other", p), NONE),
    "rename a directory to a new name": (lambda p: os.rename(p + ".dir", p), NONE),
    "rename to a new name, `RENAME_NOREPLACE`":
        (lambda p: renameat2(p + ".other", p, RENAME_NOREPLACE), NONE),
    "rename onto a file, `RENAME_NOREPLACE`":
        (lambda p: renameat2(p + ".other", p, RENAME_NOREPLACE), FILE),
    "rename away, `RENAME_WHITEOUT`": (lambda p: renameat2(p, p + ".new", RENAME_WHITEOUT), FILE),
    "rename a directory away": (lambda p: os.rename(p, p + ".new"), DIR),
    "rename onto a file": (lambda p: os.rename(p + ".other", p), FILE),
    "link to a new name": (lambda p: os.link(p + ".other", p), NONE),
    "link onto a file": (lambda p: os.link(p + ".other", p), FILE),
    "exchange with a file": (exchange, FILE),
    "exchange a directory with a file": (exchange, DIR),
}


def cells():
    """(operation, verb, errno name or None), as the page says."""
    verbs = None
    with open(os.environ["WARD_SRC"] + "/docs/wardfs-policy.5.md", encoding="utf-8") as f:
        for line in f:
            row = [c.strip() for c in line.strip().strip("|").split("|")]
            row[1:] = [c.strip("`") for c in row[1:]]
            if row[0] == "operation":
                verbs = row[1:]
            elif verbs and not line.startswith("|"):
                return
            elif verbs and not row[0].startswith("-"):
                assert row[0] in OPERATIONS, f"the page has an operation of its own: {row[0]}"
                assert len(row) == len(verbs) + 1, row
                yield from ((row[0], v, None if c == "ok" else c) for v, c in zip(verbs, row[1:]))


def make(kind, path):
    if kind == FILE:
        shutil.copy("/bin/true", path)
        os.chmod(path, 0o755)
        os.setxattr(path, "user.x", b"1")
    elif kind == DIR:
        os.mkdir(path)
    elif kind == LINK:
        os.symlink("target", path)


table = list(cells())
verbs = list(dict.fromkeys(v for _, v, _ in table))
assert verbs == ["hide", "deny", "read", "append", "write", "ask", "noexec"], verbs
assert {o for o, _, _ in table} == set(OPERATIONS), "the page has not every operation"
names = {cell: f"{i}.{cell[1]}" for i, cell in enumerate(table)}
for cell in table:
    make(OPERATIONS[cell[0]][1], f"{source}/{names[cell]}")
    make(FILE, f"{source}/{names[cell]}.other")
    make(DIR, f"{source}/{names[cell]}.dir")
with open("policy", "w", encoding="ascii") as f:
    f.write("[policy]\nversion = 1\n[files]\nwrite = /workspace\n" +
            "".join(f"{v} = /workspace/*.{v}\n" for v in verbs))
subprocess.run([wardfs, "mount", "--policy", "policy", source, mount], check=True)
wrong = []
for cell in table:
    operation, verb, want = cell
    try:
        OPERATIONS[operation][0](f"{mount}/{names[cell]}")
        got = None
    except OSError as e:
        got = "EOPNOTSUPP" if e.errno == errno.EOPNOTSUPP else errno.errorcode[e.errno]
    if got != want:
        wrong.append(f"{operation} under {verb}: {got or 'ok'}, the page says {want or 'ok'}")
print(f"{len(table)} cells")
assert len(table) >= 7 * 49 and not wrong, "\n".join(wrong)
