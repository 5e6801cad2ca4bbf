#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every cell of the table of operations and verbs in docs/policy.md, on a mount.
set -eu
mkdir source mount
cleanup() {
	"$WARD_BUILD/wardfs" umount "$PWD/mount" 2>/dev/null || :
}
trap cleanup EXIT
python3 - <<'END'
import ctypes, errno, os, shutil, subprocess

wardfs = os.path.join(os.environ["WARD_BUILD"], "wardfs")
source, mount = os.getcwd() + "/source", os.getcwd() + "/mount"
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2


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


def exchange(p):
    if libc.renameat2(AT_FDCWD, (p + ".other").encode(), AT_FDCWD, p.encode(), RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), p)


def enter(p):
    os.chdir(p)
    os.chdir("/")


FILE, DIR, LINK, NONE = range(4)
# The operation, and what is there before: at P, and at P.other for those that take two names.
OPERATIONS = {
    "stat": (os.lstat, FILE),
    "readlink": (os.readlink, LINK),
    "list a directory": (os.listdir, DIR),
    "enter a directory": (enter, DIR),
    "open for reading": (opened(os.O_RDONLY), FILE),
    "read an extended attribute": (lambda p: os.getxattr(p, "user.x"), FILE),
    "execute": (execute, FILE),
    "open for appending": (opened(os.O_WRONLY | os.O_APPEND), FILE),
    "open for writing": (opened(os.O_WRONLY), FILE),
    "open for writing or create, the name exists": (opened(os.O_WRONLY | os.O_CREAT), FILE),
    "truncate": (lambda p: os.truncate(p, 0), FILE),
    "change mode": (lambda p: os.chmod(p, 0o600), FILE),
    "set times": (lambda p: os.utime(p, (1, 1)), FILE),
    "set an extended attribute": (lambda p: os.setxattr(p, "user.y", b"1"), FILE),
    "unlink": (os.unlink, FILE),
    "remove a directory": (os.rmdir, DIR),
    "rename away": (lambda p: os.rename(p, p + ".new"), FILE),
    "link away": (lambda p: os.link(p, p + ".new"), FILE),
    "create a file": (opened(os.O_WRONLY | os.O_CREAT | os.O_EXCL), NONE),
    "make a directory": (os.mkdir, NONE),
    "make a pipe": (os.mkfifo, NONE),
    "make a symbolic link": (lambda p: os.symlink("x", p), NONE),
    "rename to a new name": (lambda p: os.rename(p + ".other", p), NONE),
    "rename onto a file": (lambda p: os.rename(p + ".other", p), FILE),
    "link to a new name": (lambda p: os.link(p + ".other", p), NONE),
    "exchange with a file": (exchange, FILE),
}


def cells():
    """(operation, verb, errno name or None), as the page says."""
    verbs = None
    with open(os.environ["WARD_SRC"] + "/docs/policy.md", encoding="utf-8") as f:
        for line in f:
            row = [c.strip().strip("`") for c in line.strip().strip("|").split("|")]
            if row[0] == "operation":
                verbs = row[1:]
            elif verbs and not line.startswith("|"):
                return
            elif verbs and not row[0].startswith("-"):
                assert row[0] in OPERATIONS, f"the page has an operation of its own: {row[0]}"
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
with open("policy", "w", encoding="ascii") as f:
    f.write("[policy]\nversion = 1\n[files]\nwrite = /workspace\n" +
            "read = /workspace/*.ask\n" + "".join(f"{v} = /workspace/*.{v}\n" for v in verbs))
subprocess.run([wardfs, "mount", "--policy", "policy", source, mount], check=True)
wrong = []
for cell in table:
    operation, verb, want = cell
    try:
        OPERATIONS[operation][0](f"{mount}/{names[cell]}")
        got = None
    except OSError as e:
        got = errno.errorcode[e.errno]
    if got != want:
        wrong.append(f"{operation} under {verb}: {got or 'ok'}, the page says {want or 'ok'}")
print(f"{len(table)} cells")
assert len(table) >= 7 * 26 and not wrong, "\n".join(wrong)
END
