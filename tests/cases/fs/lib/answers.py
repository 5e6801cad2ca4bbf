# SPDX-License-Identifier: Apache-2.0
"""Part of ../answers.sh: what rare calls answer, a line each."""
import array
import ctypes
import errno
import fcntl
import os
import select
import socket
import stat
import struct

libc = ctypes.CDLL(None, use_errno=True)


def tell(what, call):
    """Nothing that a call returns: it was done."""
    try:
        print(what, call() or "done")
    except OSError as e:
        print(what, "EOPNOTSUPP" if e.errno == errno.EOPNOTSUPP else errno.errorcode[e.errno])


def handle():
    room = ctypes.create_string_buffer(200)
    ctypes.c_uint.from_buffer(room).value = 128
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, b"file", room, ctypes.byref(mount), 0) < 0:
        raise OSError(ctypes.get_errno(), "")


def leased():
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def pipe():
    os.close(os.open("pipe", os.O_RDWR))


def connected():
    with socket.socket(socket.AF_UNIX) as c:
        c.connect("socket")


def system(number, *args):
    found = libc.syscall(number, *args)
    if found < 0:
        raise OSError(ctypes.get_errno(), "")
    return found


def fallocate(how):
    os.truncate("file", 16384)
    if libc.fallocate(fd, how, ctypes.c_long(0), ctypes.c_long(4096)) < 0:
        raise OSError(ctypes.get_errno(), "")


def opened_by_handle():
    room = ctypes.create_string_buffer(200)
    ctypes.c_uint.from_buffer(room).value = 128
    mount = ctypes.c_int()
    libc.name_to_handle_at(-100, b"file", room, ctypes.byref(mount), 0)
    at = os.open(".", os.O_RDONLY)
    os.close(system(304, at, room, os.O_RDONLY))


def acl_for_other():
    entries = struct.pack("<I", 2)
    for tag, bits, who in ((1, 6, -1), (2, 6, 4711), (4, 4, -1), (16, 6, -1), (32, 4, -1)):
        entries += struct.pack("<HHi", tag, bits, who)
    os.setxattr("file", "system.posix_acl_access", entries)


def made(kind):
    os.mknod("node", kind | 0o600, os.makedev(1, 3))
    os.unlink("node")


def told(mask):
    room = ctypes.create_string_buffer(256)
    system(332, -100, b"file", 0, mask, room)  # statx(2)
    return "told" if struct.unpack_from("I", room.raw, 0)[0] & mask else "not told"


def marks():
    """Does stx_attributes_mask have STATX_ATTR_IMMUTABLE?"""
    room = ctypes.create_string_buffer(256)
    system(332, -100, b"file", 0, 0x7ff, room)
    return "told" if struct.unpack_from("Q", room.raw, 56)[0] & 0x10 else "not told"


def uncached():
    os.preadv(fd, [bytearray(1)], 0, 0x80)  # RWF_DONTCACHE


def attributes():
    system(468, -100, b"file", ctypes.create_string_buffer(24), 24, 0)  # file_getattr(2)


def executed(number, *args):
    """No program is there, so the call comes back."""
    argv = (ctypes.c_char_p * 2)(b"none", None)
    system(number, *args, argv, (ctypes.c_char_p * 1)(None), 0x1000)  # AT_EMPTY_PATH


def nowait():
    os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT)


def polled():
    with select.epoll() as e:
        e.register(fd)
        return "ready" if e.poll(0) else "taken"


def flags():
    fcntl.ioctl(fd, 0x80086601, array.array("q", [0]))


def listed():
    """Does /proc/locks have a lock that is held?"""
    fcntl.flock(fd, fcntl.LOCK_EX)
    with open("/proc/locks", encoding="ascii") as locks:
        return "told" if locks.read() else "empty"


with open("file", "w", encoding="ascii") as f:
    f.write("content")
fd = os.open("file", os.O_RDWR)
tell("get xattr no.such", lambda: os.getxattr("file", "no.such"))
tell("set xattr no.such", lambda: os.setxattr("file", "no.such", b"1"))
tell("get xattr user.none", lambda: os.getxattr("file", "user.none"))
tell("get xattr security.none", lambda: os.getxattr("file", "security.none"))
tell("set xattr user.wardfs.none", lambda: os.setxattr("file", "user.wardfs.none", b"1"))
tell("set xattr trusted.none", lambda: os.setxattr("file", "trusted.none", b"1"))
tell("name_to_handle_at", handle)
tell("open_by_handle_at", opened_by_handle)
tell("F_SETLEASE", leased)
tell("FS_IOC_GETFLAGS", flags)
tell("FALLOC_FL_COLLAPSE_RANGE", lambda: fallocate(8))
tell("FALLOC_FL_INSERT_RANGE", lambda: fallocate(0x20))
tell("RWF_NOWAIT", nowait)
tell("STATX_DIOALIGN", lambda: told(0x2000))
tell("attributes of statx", marks)
tell("st_dev", lambda: "a device" if os.major(os.stat("file").st_dev) else "none")
tell("f_type", lambda: os.popen("stat -f -c %t .").read().strip())
tell("lseek", lambda: os.lseek(fd, 1 << 62, os.SEEK_SET) and None)
tell("pwrite", lambda: os.pwrite(fd, b"x", 1 << 62))
tell("epoll", polled)
os.mkfifo("pipe")
os.chmod("pipe", 0)
tell("pipe of mode 0", pipe)
s = socket.socket(socket.AF_UNIX)
s.bind("socket")
s.listen(1)
os.chmod("socket", 0)
tell("socket of mode 0", connected)
tell("character device", lambda: made(stat.S_IFCHR))
tell("block device", lambda: made(stat.S_IFBLK))
tell("chroot", lambda: os.chroot("none"))
tell("quotactl", lambda: system(179, -1, None, 0, None) and None)
tell("io_uring_setup", lambda: system(425, 0, None) and None)
tell("/proc/locks", listed)
# Each program that starts is looked at first, and what is wrong with the call is told as natively.
tell("execve of a long path", lambda: executed(59, b"/" + b"a/" * 2048))
tell("execve of no path", lambda: executed(59, None))
tell("execveat of no descriptor", lambda: executed(322, -1, b""))
tell("execveat beneath no descriptor", lambda: executed(322, 99, b"none"))
# Of Linux 6.17 and later.
tell("RWF_DONTCACHE", uncached)
tell("STATX_WRITE_ATOMIC", lambda: told(0x10000))
tell("file_getattr", attributes)
tell("chown to another id", lambda: os.chown("file", 4711, -1))
tell("ACL that names another id", acl_for_other)
for name in "file", "pipe", "socket":
    os.unlink(name)
# The last: nothing that follows would be the same user's.
tell("setuid to another id", lambda: system(105, 4711) and None)
