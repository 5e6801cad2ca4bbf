# SPDX-License-Identifier: Apache-2.0
"""Part of ../answers.sh: what rare calls answer, a line each."""
import ctypes
import errno
import fcntl
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)


def tell(what, call):
    try:
        print(what, call())
    except OSError as e:
        print(what, "EOPNOTSUPP" if e.errno == errno.EOPNOTSUPP else errno.errorcode[e.errno])


def handle():
    room = ctypes.create_string_buffer(200)
    ctypes.c_uint.from_buffer(room).value = 128
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, b"file", room, ctypes.byref(mount), 0) < 0:
        raise OSError(ctypes.get_errno(), "")
    return "works"


def pipe():
    os.close(os.open("pipe", os.O_RDWR))
    return "opened"


def connected():
    with socket.socket(socket.AF_UNIX) as c:
        c.connect("socket")
    return "connected"


with open("file", "w", encoding="ascii") as f:
    f.write("content")
fd = os.open("file", os.O_RDWR)
tell("get xattr no.such", lambda: os.getxattr("file", "no.such"))
tell("set xattr no.such", lambda: os.setxattr("file", "no.such", b"1"))
tell("get xattr user.none", lambda: os.getxattr("file", "user.none"))
tell("get xattr security.none", lambda: os.getxattr("file", "security.none"))
tell("set xattr user.wardfs.none", lambda: os.setxattr("file", "user.wardfs.none", b"1"))
tell("name_to_handle_at", handle)
tell("F_SETLEASE", lambda: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK))
tell("lseek", lambda: os.lseek(fd, 1 << 62, os.SEEK_SET) == 1 << 62)
tell("pwrite", lambda: os.pwrite(fd, b"x", 1 << 62))
os.mkfifo("pipe")
os.chmod("pipe", 0)
tell("pipe of mode 0", pipe)
s = socket.socket(socket.AF_UNIX)
s.bind("socket")
s.listen(1)
os.chmod("socket", 0)
tell("socket of mode 0", connected)
for name in "file", "pipe", "socket":
    os.unlink(name)
