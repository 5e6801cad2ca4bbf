# SPDX-License-Identifier: Apache-2.0
# Part of ../hidden-asks.sh: all that can be tried with hidden names and, as a control, others.
import ctypes
import os
import socket
import time

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100


def rename2(old, new, flags):
    if libc.renameat2(AT_FDCWD, old.encode(), AT_FDCWD, new.encode(), flags):
        raise OSError(ctypes.get_errno(), "renameat2")


def bind(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(name)


open("mine", "w").close()
os.mkdir("mine.d")
open("ready", "w").close()
while not os.path.exists("traced"):
    time.sleep(0.05)
tries = [
    os.lstat, os.listdir, os.readlink, os.unlink, os.rmdir, os.mkdir, os.mkfifo, os.utime, bind,
    lambda n: os.open(n, os.O_RDONLY | os.O_NONBLOCK),
    lambda n: os.open(n, os.O_WRONLY | os.O_CREAT),
    lambda n: os.open(n, os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    lambda n: os.open(n, os.O_RDWR | os.O_TMPFILE),
    lambda n: os.truncate(n, 0), lambda n: os.chmod(n, 0o600), lambda n: os.symlink("x", n),
    lambda n: os.mknod(n, 0o100600), lambda n: os.getxattr(n, "user.x"),
    lambda n: os.setxattr(n, "user.x", b"1"), lambda n: os.execv(n, [n]),
    lambda n: os.lstat(n + "/sub"), lambda n: os.mkdir(n + "/new"),
    lambda n: os.link("mine", n), lambda n: os.link(n, "second"),
    lambda n: os.rename(n, "second"), lambda n: os.rename(n, n + ".hid"),
    lambda n: os.rename("mine", n), lambda n: os.rename("mine.d", n),
    lambda n: rename2("mine", n, 1), lambda n: rename2("mine", n, 2), lambda n: rename2(n, "mine", 2),
    lambda n: rename2("mine", n, 4), lambda n: rename2("mine.d", n, 2),
]
for end in "vis", "hid":
    for name in "there-file", "there-dir", "there-link", "absent":
        for attempt in tries:
            try:
                attempt("%s.%s" % (name, end))
            except OSError:
                pass
            for made in "mine", "second":
                if not os.path.lexists(made):
                    open(made, "w").close()
            if not os.path.isdir("mine.d"):
                os.mkdir("mine.d")
print("asked")
