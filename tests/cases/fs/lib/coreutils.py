# SPDX-License-Identifier: Apache-2.0
"""Part of ../coreutils.sh. coreutils.py ACL: does in the working directory what programs of coreutils do,
and prints a line for each outcome. ACL: can ACLs be set here (yes, no)?
"""
import errno
import fcntl
import mmap
import os
import struct
import subprocess
import sys

ALIGNED = 4096  # what O_DIRECT takes on any file system


def told(what, call):
    try:
        print(f"{what}|{call()}")
    except OSError as e:
        print(f"{what}|{errno.errorcode[e.errno]}")


def mode_of(path):
    # stat(1) asks statx(2) for the mode alone, which the kernel may answer by itself.
    return subprocess.check_output(["stat", "-c", "%a", path], text=True).strip()


def acl(user, group, other):
    """An ACL that says no more than a mode, as <linux/posix_acl_xattr.h> has it: cp(1) sets one."""
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, rights, 0xFFFFFFFF) for tag, rights in ((1, user), (4, group), (32, other)))


def mode_by_acl(make, path):
    make(path)
    os.chmod(path, 0o700)
    before = mode_of(path)
    os.setxattr(path, "system.posix_acl_access", acl(7, 5, 1))
    return f"{before} {mode_of(path)}"


def direct_off():
    """dd(1) with oflag=direct: the last block is not whole, and is written without O_DIRECT."""
    fd = os.open("out", os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
    with mmap.mmap(-1, ALIGNED) as block:
        os.write(fd, block)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_DIRECT)
    os.write(fd, b"rest")
    return os.fstat(fd).st_size


def closed_above():
    """mkdir -p: the working directory may be searched, the one above may not."""
    os.makedirs("above/here")
    os.chdir("above/here")
    os.mkdir("before")
    os.chmod("..", 0o600)
    try:
        os.mkdir("after")
        return "done"
    finally:
        os.chmod(top, 0o700)


if sys.argv[1] == "yes":
    told("mode by the ACL of a file", lambda: mode_by_acl(lambda p: os.close(os.open(p, os.O_CREAT, 0o600)), "f"))
    told("mode by the ACL of a pipe", lambda: mode_by_acl(os.mkfifo, "p"))
    told("mode by the ACL of a directory", lambda: mode_by_acl(os.mkdir, "d"))
told("without O_DIRECT", direct_off)
top = os.path.abspath("above")
told("beneath a closed directory", closed_above)
