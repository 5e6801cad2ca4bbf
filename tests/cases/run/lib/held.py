# SPDX-License-Identifier: Apache-2.0
# What a program holds open in a tree while its session gets another policy: opens everything, says
# so, waits to be told, then tries all of it. Usage: held.py TREE STARTED GO KIND, KIND passthrough
# or cached.
import errno, mmap, os, sys, time

tree, started, go, kind = sys.argv[1:]
os.chdir(tree)
failures = []


def attempt(f, *a):
    """What f answers: its value, or the name of its errno."""
    try:
        return f(*a)
    except OSError as e:
        return errno.errorcode[e.errno]


def want(what, got, *right):
    if got not in right:
        failures.append("%s: %r is none of %r" % (what, got, right))


def again(fd, flags):
    got = attempt(os.open, "/proc/self/fd/%d" % fd, flags)
    if isinstance(got, int):
        os.close(got)
        return "opened"
    return got


def fault(m, write):
    """Touches a mapping in a child of its own: what it reads, or the signal that ends it."""
    pid = os.fork()
    if not pid:
        if write:
            m[0:1] = b"!"
            m.flush()
        os._exit(m[0])
    _, status = os.waitpid(pid, 0)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


RW = os.O_RDWR
fd = {}
fd["hidden"] = os.open("hidden", RW)  # write → hide
fd["denied"] = os.open("denied", os.O_RDONLY)  # write → deny
fd["lower"] = os.open("lower", RW)  # write → read
fd["lower-reader"] = os.open("reader", os.O_RDONLY)  # write → read: keeps what it needs
fd["kept"] = os.open("kept", RW)  # write → write
fd["log"] = os.open("log", os.O_WRONLY | os.O_APPEND)  # write → append
fd["plain"] = os.open("plain", os.O_WRONLY)  # write → append: it wrote anywhere
fd["dir"] = os.open("dir", os.O_RDONLY | os.O_DIRECTORY)  # some of it → hide
fd["gone"] = os.open("gone", os.O_RDONLY | os.O_DIRECTORY)  # write → hide
fd["path"] = os.open("pathed", os.O_PATH)  # write → hide
os.stat("link-b")  # a name that the tree does not know would be one too many
fd["link"] = os.open("link-a", RW)  # its other name: write → read
fd["unlinked"] = os.open("unlinked", RW)  # write → hide
os.unlink("unlinked")
dup = os.dup(fd["hidden"])
mapped = mmap.mmap(fd["hidden"], 0)
# Control: all of it works now.
for name in ("hidden", "lower", "kept", "link", "unlinked"):
    want("control: read " + name, attempt(os.pread, fd[name], 4, 0), b"text")
    want("control: write " + name, attempt(os.pwrite, fd[name], b"t", 0), 1)
want("control: read denied", attempt(os.pread, fd["denied"], 4, 0), b"text")
want("control: append", attempt(os.write, fd["log"], b"one\n"), 4)
want("control: write plain", attempt(os.pwrite, fd["plain"], b"t", 0), 1)
want("control: list", sorted(os.listdir(fd["dir"])), ["seen", "unseen"])
want("control: list", os.listdir(fd["gone"]), ["x"])
want("control: by O_PATH", again(fd["path"], os.O_RDONLY), "opened")
want("control: reopen", again(fd["hidden"], RW), "opened")
want("control: mapping", fault(mapped, False), ord("t"))
want("control: copy", attempt(os.copy_file_range, fd["kept"], fd["lower"], 2, 0, 8), 2)
want("control: truncate", attempt(os.ftruncate, fd["lower"], 4096), None)
os.stat("x", dir_fd=fd["gone"])
os.rename("dir/unseen", "dir/prepared")
os.rename("dir/prepared", "dir/unseen")

open(started, "w").close()
for _ in range(10000):
    if os.path.exists(go):
        break
    time.sleep(0.02)

# The kernel asks for the attributes before it reads from its pages: those of what is hidden are not
# there.
lost = ("EIO",) if kind == "passthrough" else ("EACCES", "ENOENT")
for name in ("hidden", "unlinked"):
    want("read " + name, attempt(os.pread, fd[name], 4, 0), *lost)
    want("write " + name, attempt(os.pwrite, fd[name], b"EVIL", 0), *lost)
want("read by a copy", attempt(os.pread, dup, 4, 0), *lost)
want("read denied", attempt(os.pread, fd["denied"], 4, 0), *lost)
want("write lower", attempt(os.pwrite, fd["lower"], b"EVIL", 0), *lost)
want("truncate lower", attempt(os.ftruncate, fd["lower"], 0), "EIO", "EACCES", "ESTALE")
want("allocate lower", attempt(os.posix_fallocate, fd["lower"], 0, 9000), "EIO", "EACCES")
want("write by one of two names", attempt(os.pwrite, fd["link"], b"EVIL", 0), *lost)
want("copy to lower", attempt(os.copy_file_range, fd["kept"], fd["lower"], 4, 0, 0), "EIO", "EACCES")
if kind == "cached":
    # Only the right that was lost is gone.
    want("read lower", attempt(os.pread, fd["lower"], 4, 0), b"text")
    want("append", attempt(os.write, fd["log"], b"two\n"), 4)
    want("write plain", attempt(os.pwrite, fd["plain"], b"EVIL", 0), "EACCES")
    # Bytes that are gone at once: a mapping that faults again is refused its page.
    want("mapping", fault(mapped, False), -7)
else:
    want("read lower", attempt(os.pread, fd["lower"], 4, 0), "EIO")
    want("write plain", attempt(os.pwrite, fd["plain"], b"EVIL", 0), "EIO")
# What kept its rights goes on.
want("read reader", attempt(os.pread, fd["lower-reader"], 4, 0), b"text")
want("write kept", attempt(os.pwrite, fd["kept"], b"t", 0), 1)
want("list", sorted(os.listdir(fd["dir"])), ["seen"])
want("list hidden", attempt(os.listdir, fd["gone"]), "EACCES", "ENOENT", "EIO", "ESTALE")
want("beneath", attempt(lambda: os.stat("x", dir_fd=fd["gone"])), "ENOENT", "EACCES", "ESTALE")
# Ways round.
want("reopen", again(fd["hidden"], os.O_RDONLY), "EIO", "ENOENT", "EACCES", "ESTALE")
want("by O_PATH", again(fd["path"], os.O_RDONLY), "EIO", "ENOENT", "EACCES", "ESTALE")
want("reopen to write", again(fd["lower-reader"], RW), "EACCES", "EIO")
want("rename", attempt(os.rename, "dir/unseen", "dir/seen2"), "ENOENT", "EACCES", "EXDEV")
want("rename over", attempt(os.rename, "kept2", "lower"), "EACCES")
want("link", attempt(lambda: os.link("/proc/self/fd/%d" % fd["hidden"], "stolen")),
     "ENOENT", "EACCES", "EXDEV", "EIO", "ESTALE")
want("open anew", attempt(os.open, "hidden", os.O_RDONLY), "ENOENT")
want("open to read", again(os.open("lower", os.O_RDONLY), os.O_RDONLY), "opened")
want("open to write", attempt(os.open, "lower", RW), "EACCES")
want("open to append", again(os.open("log", os.O_WRONLY | os.O_APPEND), os.O_PATH), "opened")
for line in failures:
    print("FAIL:", line)
sys.exit(bool(failures))
