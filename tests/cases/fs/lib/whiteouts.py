# SPDX-License-Identifier: Apache-2.0
"""whiteouts.py BACKING: device 0:0, what overlays take for a name that is gone, can be made and
renamed to; other devices cannot."""
import ctypes
import errno
import os
import stat
import sys

RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = 1, 2, 4
AT_FDCWD = -100
LIBC = ctypes.CDLL(None, use_errno=True)


def rename(old, new, flags=RENAME_WHITEOUT):
    """0 or the errno"""
    r = LIBC.renameat2(AT_FDCWD, old.encode(), AT_FDCWD, new.encode(), flags)
    return errno.errorcode[ctypes.get_errno()] if r else "done"


def mknod(path, device, kind=stat.S_IFCHR):
    try:
        os.mknod(path, kind | 0o600, device)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got} instead of {want}")


def is_whiteout(path):
    for top in (".", sys.argv[1]):
        s = os.lstat(os.path.join(top, path))
        if not stat.S_ISCHR(s.st_mode) or s.st_rdev:
            return False
    return True


expect("0:0", mknod("white", 0), "done")
expect("0:0 is one", is_whiteout("white"), True)
for kind, number in ((stat.S_IFCHR, os.makedev(1, 3)), (stat.S_IFBLK, 0)):
    expect("a device", mknod("device", number, kind), "EPERM")
try:
    os.open("white", os.O_RDONLY)
    sys.exit("a whiteout was opened")
except OSError as error:
    # ENXIO: there is no driver; EACCES: the mount has no devices.
    expect("open", error.errno in (errno.ENXIO, errno.EACCES), True)
for name in ("one", "two", "three"):
    with open(name, "w", encoding="ascii") as f:
        f.write(name)
expect("rename", rename("one", "new"), "done")
expect("what is left", is_whiteout("one"), True)
with open("new", encoding="ascii") as f:
    expect("content", f.read(), "one")
expect("over another", rename("two", "three"), "done")
expect("what is left", is_whiteout("two"), True)
expect("listing", sorted(os.listdir(".")), sorted(os.listdir(sys.argv[1])))
expect("not over another", rename("new", "three", RENAME_WHITEOUT | RENAME_NOREPLACE), "EEXIST")
expect("not with exchange", rename("new", "three", RENAME_WHITEOUT | RENAME_EXCHANGE), "EINVAL")
os.mkdir("d")
expect("a directory", rename("d", "e"), "done")
expect("what is left", is_whiteout("d"), True)
os.link("new", "other")
expect("two names of one file", rename("new", "other"), "done")
expect("both are left", (os.stat("new").st_ino, "new" in os.listdir(".")),
       (os.stat("other").st_ino, True))
for name in ("white", "one", "two", "d"):
    os.unlink(name)
expect("under another rule", mknod("ro/white", 0), "EACCES")
expect("under another rule", rename("ro/f", "f"), "EACCES")
expect("where it stands", os.listdir("ro"), ["f"])
