# SPDX-License-Identifier: Apache-2.0
"""The table of operations and verbs in docs/wardfs-policy.5.md: each cell is one attempt on a name of its own.

file-verbs.py make DIR [POLICY]     makes the names, and the policy with the rules for them
file-verbs.py state DIR >FILE       what the host sees of each name: content, mode, owner, times, attributes
file-verbs.py attempt DIR >FILE     makes each attempt; also in a sandbox, with this file alone
file-verbs.py judge ANSWERS [BEFORE AFTER [LOOSE [VERB]]]
    compares the answers with the page. With two states: what the page refuses has also left the names
    as they were. LOOSE is a file of operations, one a line, whose answers may be others: then the states
    alone decide. VERB is left out. Prints the number of cells.
"""
import ctypes
import errno
import fcntl
import hashlib
import json
import mmap
import os
import shutil
import socket
import stat
import sys

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


VERBS = "hide", "deny", "read", "append", "write", "ask", "noexec"
# Every name has its cell's verb at its end, and the policy one rule a verb.
NAMES = {(o, v): f"{i}.{v}" for i, (o, v) in enumerate((o, v) for o in OPERATIONS for v in VERBS)}
BESIDE = "", ".other", ".dir", ".new"


def cells():
    """(operation, verb): errno name or None, as the page says."""
    table, verbs = {}, None
    with open(os.environ["WARD_SRC"] + "/docs/wardfs-policy.5.md", encoding="utf-8") as f:
        for line in f:
            row = [c.strip() for c in line.strip().strip("|").split("|")]
            row[1:] = [c.strip("`") for c in row[1:]]
            if row[0] == "operation":
                verbs = row[1:]
            elif verbs and not line.startswith("|"):
                break
            elif verbs and not row[0].startswith("-"):
                assert row[0] in OPERATIONS, f"the page has an operation of its own: {row[0]}"
                assert len(row) == len(verbs) + 1, row
                table.update(((row[0], v), None if c == "ok" else c) for v, c in zip(verbs, row[1:]))
    assert table.keys() == NAMES.keys(), "the page has other operations or verbs"
    return table


def make(kind, path):
    if kind == FILE:
        shutil.copy("/bin/true", path)
        os.chmod(path, 0o755)
        os.setxattr(path, "user.x", b"1")
    elif kind == DIR:
        os.mkdir(path)
    elif kind == LINK:
        os.symlink("target", path)


def make_all(at, policy=None):
    for (operation, _), name in NAMES.items():
        make(OPERATIONS[operation][1], f"{at}/{name}")
        make(FILE, f"{at}/{name}.other")
        make(DIR, f"{at}/{name}.dir")
    if policy:
        with open(policy, "w", encoding="ascii") as f:
            f.write("[policy]\nversion = 1\n[approvals]\ntimeout = 1s\n[files]\nwrite = /workspace\n" +
                    "".join(f"{v} = /workspace/*.{v}\n" for v in VERBS))


def attempt_all(at):
    """(operation, verb, errno name or None) of each attempt."""
    for (operation, verb), name in NAMES.items():
        try:
            OPERATIONS[operation][0](f"{at}/{name}")
            got = None
        except OSError as e:
            got = "EOPNOTSUPP" if e.errno == errno.EOPNOTSUPP else errno.errorcode[e.errno]
        yield operation, verb, got


def state_of(path):
    try:
        st = os.lstat(path)
    except FileNotFoundError:
        return None
    seen = [stat.S_IFMT(st.st_mode) | stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid, st.st_nlink, st.st_ino]
    if stat.S_ISDIR(st.st_mode):
        return seen + sorted(os.listdir(path))
    if stat.S_ISLNK(st.st_mode):
        return seen + [os.readlink(path)]
    seen += [st.st_mtime_ns, [(n, os.getxattr(path, n).hex()) for n in sorted(os.listxattr(path))]]
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            seen.append(hashlib.sha256(f.read()).hexdigest())
    return seen


def judge(answers, before=None, after=None, loose=(), left_out=None):
    """What is not as the page says."""
    page = cells()
    assert [(o, v) for o, v, _ in answers] == list(page), "answers are missing"
    for operation, verb, got in answers:
        want = page[operation, verb]
        if verb == left_out:
            continue
        if got != want and operation not in loose:
            yield f"{operation} under {verb}: {got or 'ok'}, the page says {want or 'ok'}"
        name = NAMES[operation, verb]
        for n in (name + end for end in BESIDE):
            if before and page[operation, verb] and before[n] != after[n]:
                yield f"{operation} under {verb}: refused, and {n} changed: {before[n]}, {after[n]}"


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def main(verb, *args):
    if verb == "make":
        make_all(*args)
    elif verb == "attempt":
        json.dump(list(attempt_all(*args)), sys.stdout)
    elif verb == "state":
        names = [n + end for n in NAMES.values() for end in BESIDE]
        json.dump({n: state_of(f"{args[0]}/{n}") for n in names}, sys.stdout)
    else:
        loose = []
        if len(args) > 3:
            with open(args[3], encoding="utf-8") as f:
                loose = f.read().splitlines()
        assert set(loose) <= set(OPERATIONS), "there is no such operation"
        wrong = list(judge(*[load(a) for a in args[:3]], loose, *args[4:]))
        print(f"{len(NAMES)} cells")
        sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
