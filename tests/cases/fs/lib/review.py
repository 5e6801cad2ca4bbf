# SPDX-License-Identifier: Apache-2.0
"""review.py BACK: what a staged tree promises, seen from inside; BACK is as it was, seen there."""
import errno
import fcntl
import mmap
import os
import subprocess
import sys

back = sys.argv[1]


def host(name):
    with open(os.path.join(back, name), "rb") as f:
        return f.read()


def same(a, b, what):
    assert a == b, "%s: %r is not %r" % (what, a, b)


# What was open before the file was staged reads what is staged, also through a mapping.
reader = os.open("file", os.O_RDONLY)
mapped = mmap.mmap(reader, 0, mmap.MAP_SHARED, mmap.PROT_READ)
before = os.stat("file")
os.stat("hard")  # both names are known: the file is not one of another tree, too
same(mapped[:3], b"old", "control")
writer = os.open("file", os.O_RDWR)
for what in ("st_ino", "st_nlink", "st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_ctime_ns"):
    same(getattr(os.stat("file"), what), getattr(before, what), "staged, not written: " + what)
os.pwrite(writer, b"new", 0)
same(os.pread(reader, 3, 0), b"new", "open before")
same(mapped[:3], b"new", "mapped before")
same(open("hard", "rb").read(3), b"new", "another name")
same(os.stat("hard").st_ino, before.st_ino, "another name's number")
assert os.fstat(reader).st_ctime_ns > before.st_ctime_ns, "written to, and no time changed"
same(host("file")[:3], b"old", "the host's file")
same(host("hard")[:3], b"old", "the host's file")
# Links come and go on what is seen alone.
os.unlink("hard")
same(os.fstat(writer).st_nlink, 1, "links")
os.link("file", "third")
same(os.fstat(writer).st_nlink, 2, "links")
assert os.path.exists(os.path.join(back, "hard")) and not os.path.exists(os.path.join(back, "third"))
# A lock that was taken before the file was staged keeps others out afterwards.
held = os.open("locked", os.O_RDONLY)
fcntl.flock(held, fcntl.LOCK_EX)
other = os.open("locked", os.O_RDWR)
os.write(other, b"staged")
for fd, name in ((other, "a new descriptor"), (os.open("locked", os.O_RDONLY), "a later one")):
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sys.exit("%s took a lock that is held" % name)
    except BlockingIOError:
        pass
fcntl.flock(held, fcntl.LOCK_UN)
fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
# POSIX locks, of two processes.
fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
tried = "import fcntl, os; fcntl.lockf(os.open('locked', os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)"
assert subprocess.run([sys.executable, "-c", tried], stderr=subprocess.DEVNULL).returncode, "lockf"
# A directory that is made anew hides what the host has.
os.unlink("dir/inner")
os.rmdir("dir")
os.mkdir("dir")
same(os.listdir("dir"), [], "made anew")
open("dir/other", "w").close()
same(os.listdir("dir"), ["other"], "made anew")
same(os.listdir(os.path.join(back, "dir")), ["inner"], "the host's directory")
# A renamed directory has all that is beneath it, and its old name is free.
os.rename("tree", "moved")
same(open("moved/a/b/deep", "rb").read(), b"deep", "renamed")
open("moved/a/b/deep", "wb").write(b"changed")
assert not os.path.exists("tree") and "tree" not in os.listdir(".")
os.rename("moved", "tree")
same(open("tree/a/b/deep", "rb").read(), b"changed", "renamed back")
same(host("tree/a/b/deep"), b"deep", "the host's file")
# Holes stay holes, and what is not a file is staged, too.
os.truncate("holes", os.stat("holes").st_size + 1)
assert os.stat("holes").st_blocks * 512 < 1 << 20, "holes were filled"
os.mkfifo("pipe")
os.chmod("dir", 0o700)
os.utime("mtime", ns=(1, 2))
same(os.stat("mtime").st_mtime_ns, 2, "utime")
os.setxattr("mtime", "user.x", b"y")
assert os.listxattr(os.path.join(back, "mtime")) == [] and os.stat(os.path.join(back, "mtime")).st_mtime_ns > 2
assert not os.path.exists(os.path.join(back, "pipe"))
# Every name is listed once.
names = os.listdir(".")
same(len(names), len(set(names)), "names")
# A name that no file system of the host's could have is too long everywhere.
os.mkdir("own")
for name in ("n" * 256, "own/" + "n" * 256):
    for what in (lambda n: open(n, "w"), os.mkdir, lambda n: os.rename("pipe", n), os.stat):
        try:
            what(name)
            sys.exit("%d letters" % len(name))
        except OSError as e:
            same(e.errno, errno.ENAMETOOLONG, name)
open("own/" + "n" * 255, "w").close()
# st_ctime of what is staged changes with its names.
open("own/a", "w").close()
os.symlink("a", "own/l")
os.mkdir("own/d")
for kind in ("a", "l", "d"):
    name, last = "own/" + kind, os.lstat("own/" + kind).st_ctime_ns
    os.rename(name, name + "2")
    steps = [] if kind == "d" else [lambda: os.link(name + "2", name, follow_symlinks=False),
                                    lambda: os.unlink(name)]
    for step in [lambda: None] + steps:
        step()
        now = os.lstat(name + "2").st_ctime_ns
        assert now > last, "%s: no ctime" % kind
        last = now
