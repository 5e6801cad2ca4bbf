# SPDX-License-Identifier: Apache-2.0
# Part of ../secrets.sh: what an agent tries at names under `secret`. The host acts when it is asked
# to, by a line on stdout, and answers on stdin.
import ctypes, errno, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2


def host(what):
    print(what, flush=True)
    line = sys.stdin.readline().strip()
    assert line == "done", (what, line)


def attempt(f, *a):
    """What f returns, or the name of the error."""
    try:
        return f(*a)
    except OSError as e:
        return errno.errorcode[e.errno]


def read(p, flags=0):
    fd = os.open(p, os.O_RDONLY | flags)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def write(p, text, flags=os.O_CREAT | os.O_TRUNC):
    fd = os.open(p, os.O_WRONLY | flags, 0o644)
    os.write(fd, text)
    os.close(fd)
    return "written"


def swap(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2")
    return "swapped"


def link_open(fd, p):
    """linkat(2) of what is open; os.link() does not follow /proc/self/fd."""
    if libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, p.encode(), 0x400):
        raise OSError(ctypes.get_errno(), "linkat")
    return "linked"


def unnamed(p):
    """O_TMPFILE, linked to p."""
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, b"mine")
    try:
        return link_open(fd, p)
    finally:
        os.close(fd)


def gone(p):
    """Nothing is seen there any more, as soon as the kernel has forgotten what was."""
    end = time.monotonic() + 60
    while attempt(os.stat, p) != "ENOENT":
        assert time.monotonic() < end, p
        time.sleep(0.01)


def is_(got, *want):
    assert got in want, (got, want)


def steps():
    # Absent, and the kernel knows it: the host makes one.
    is_(attempt(read, ".env"), "ENOENT")
    is_(attempt(read, ".env"), "ENOENT")
    host("make .env")
    is_(attempt(read, ".env"), "ENOENT")
    is_(attempt(os.stat, ".env"), "ENOENT")
    assert ".env" not in os.listdir("."), os.listdir(".")
    is_(attempt(write, ".env", b"x"), "EACCES")
    is_(attempt(write, ".env", b"x", os.O_CREAT | os.O_EXCL), "EACCES")
    is_(attempt(write, ".env", b"x", 0), "ENOENT")
    is_(attempt(os.truncate, ".env", 0), "ENOENT")
    is_(attempt(unnamed, ".env"), "EACCES")
    write("visible", b"mine")
    is_(attempt(swap, "visible", ".env"), "ENOENT", "EACCES")
    is_(attempt(swap, ".env", "visible"), "ENOENT", "EACCES")
    is_(attempt(os.rename, "visible", ".env"), "EACCES")
    is_(attempt(os.link, "visible", ".env"), "EACCES")
    is_(attempt(os.mkfifo, ".env"), "EACCES")
    is_(attempt(os.mkdir, ".env"), "EACCES")
    is_(attempt(os.symlink, "visible", ".env"), "EACCES")
    is_(attempt(os.rename, ".env", "moved"), "ENOENT")
    is_(attempt(os.link, ".env", "linked"), "ENOENT")
    is_(attempt(os.unlink, ".env"), "ENOENT")
    is_(attempt(os.open, ".env", os.O_PATH), "ENOENT")
    # Gone: what is made now is the session's, by every way, and its own under every name.
    host("remove .env")
    is_(attempt(write, ".env", b"mine"), "written")
    is_(read(".env"), b"mine")
    os.unlink(".env")
    is_(attempt(unnamed, ".env"), "linked")
    is_(read(".env"), b"mine")
    is_(attempt(swap, "visible", ".env"), "swapped")
    is_(read(".env") + read("visible"), b"minemine")
    os.mknod("node.pem", 0o600 | 0o100000)
    is_(attempt(write, "node.pem", b"mine", 0), "written")
    is_(read("node.pem"), b"mine")
    held = os.open(".env", os.O_RDWR)
    mapped = mmap.mmap(held, 4)
    # The host replaces it: no longer the session's, whatever is open or cached.
    host("replace .env")
    for path in (".env", "/proc/self/cwd/.env"):
        # What it had open may still be reached; what the host has put there is not.
        is_(attempt(read, path), "ENOENT", b"mine")
    os.stat(held)
    gone(".env")
    assert ".env" not in os.listdir("."), os.listdir(".")
    is_(attempt(os.rename, ".env", "moved"), "ENOENT")
    is_(attempt(os.link, ".env", "linked"), "ENOENT")
    is_(attempt(write, ".env", b"x"), "EACCES")
    is_(attempt(link_open, held, "linked"), "ENOENT", "EACCES", "ESTALE")
    is_(os.pread(held, 99, 0), b"mine")
    is_(bytes(mapped), b"mine")
    is_(attempt(read, f"/proc/self/fd/{held}"), b"mine", "ESTALE", "ENOENT", "EACCES")
    os.close(held)
    # What git has is read, until somebody changes it; also by what is open.
    is_(read(".env.production"), b"PUBLIC=1\n")
    held = os.open(".env.production", os.O_RDONLY)
    shown = mmap.mmap(held, 0, prot=mmap.PROT_READ)
    is_(bytes(shown), b"PUBLIC=1\n")
    host("edit .env.production")
    is_(attempt(os.pread, held, 99, 0), "EACCES", b"PUBLIC=1\n")
    with open("copied", "wb") as f:
        attempt(os.copy_file_range, held, f.fileno(), 99, 0)
        attempt(os.sendfile, f.fileno(), held, 0, 99)
    assert b"SECRET" not in read("copied"), read("copied")
    is_(attempt(read, ".env.production"), "EACCES")
    is_(attempt(read, f"/proc/self/fd/{held}"), "EACCES")
    assert b"SECRET" not in bytes(shown)
    is_(attempt(os.utime, ".env.production", (1, 1)), "EACCES")
    is_(attempt(os.rename, ".env.production", "moved"), "EACCES")
    is_(attempt(os.link, ".env.production", "linked"), "EACCES", "EXDEV")
    # A directory that holds something hidden goes nowhere where it would show, and is not removed.
    host("fill dir")
    is_(attempt(read, "dir/.env"), "ENOENT")
    is_(attempt(os.rmdir, "dir"), "ENOTEMPTY")
    os.rename("dir", "other")
    is_(attempt(read, "other/.env"), "ENOENT")
    is_(os.listdir("other"), ["file"])
    os.rename("other", "dir")
    is_(attempt(os.rename, "private", "public"), "EXDEV", "EACCES", "ENOENT")
    is_(attempt(os.rename, "holds", "public"), "EXDEV")
    is_(attempt(read, "holds/private/key"), "ENOENT")
    is_(read("holds/private/tracked"), b"tracked\n")
    is_(os.listdir("holds/private"), ["tracked"])
    # Another session's .git decides nothing: the content does not match.
    is_(attempt(read, "forged/.env"), "EACCES", "ENOENT")
    # Spellings that name the same to a careless eye.
    for p in (".ENV", "./.env", "dir/../.env", ".//.env", ".env/", ".env/."):
        is_(attempt(read, p), "ENOENT", "ENOTDIR")
    # What was looked into at the start stands until a reload looks again.
    host("commit new.pem")
    is_(attempt(read, "new.pem"), "ENOENT")
    host("reload")
    is_(read("new.pem"), b"SECRET\n")
    host("untrack new.pem")
    is_(read("new.pem"), b"SECRET\n")
    host("reload")
    is_(attempt(read, "new.pem"), "ENOENT")


def races():
    """While the host makes, replaces and removes .env with a secret in it."""
    host("race")
    seen, n = {}, 0
    end = time.monotonic() + (60 if os.environ.get("WARD_LONG") else 2)
    while time.monotonic() < end or n < 50:
        for act in (lambda: write(".env", b"mine"), lambda: read(".env"),
                    lambda: os.rename(".env", "out"), lambda: read("out"), lambda: os.link(".env", "out2"),
                    lambda: read("out2"), lambda: os.unlink("out2"), lambda: os.rename("out", ".env"),
                    lambda: swap("visible", ".env"), lambda: read("visible"), lambda: read(".env"),
                    lambda: unnamed(".env"), lambda: os.unlink("out"), lambda: os.unlink(".env")):
            got = attempt(act)
            seen[got] = seen.get(got, 0) + 1
            assert not (isinstance(got, bytes) and b"SECRET" in got), got
        n += 1
    host("stop")
    for p in os.listdir("."):
        if os.path.isfile(p) and not p.endswith(".py"):
            got = attempt(read, p)
            assert not (isinstance(got, bytes) and b"SECRET" in got), (p, got)
    assert seen.get(b"mine") and (seen.get("ENOENT") or seen.get("EACCES")), seen


steps()
races()
print("end", flush=True)
