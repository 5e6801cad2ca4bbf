# SPDX-License-Identifier: Apache-2.0
# Part of ../append-moved.sh.
import errno, mmap, os, sys
passthrough = sys.argv[1] == "yes"
def refused(want, what):
    try:
        what()
    except OSError as e:
        if e.errno != want:
            sys.exit("FAIL: %s, not %s" % (e, errno.errorcode[want]))
        return
    sys.exit("FAIL: allowed")
def make(name):
    fd = os.open(name, os.O_CREAT | os.O_RDWR)
    os.write(fd, b"first\n")
    return fd
# control: elsewhere a handle is no hindrance, nor is one that may only read or has been closed
fd = make("a")
os.rename("a", "free/a")
os.link("free/a", "free/b")
os.pwrite(fd, b"F", 0)
os.close(fd)
# at once: where many threads serve, nothing says that the end of a handle is handled first
for i in range(50):
    os.close(os.open("again", os.O_CREAT | os.O_WRONLY))
    if i % 2:
        os.link("again", "log/again-%d" % i)
        os.unlink("again")
    else:
        os.rename("again", "log/again-%d" % i)
os.close(os.open("plain", os.O_CREAT | os.O_WRONLY))
r = os.open("plain", os.O_RDONLY)
os.rename("plain", "log/plain")
# and then it can be appended to while it is read
w = os.open("log/plain", os.O_WRONLY | os.O_APPEND)
os.write(w, b"line\n")
assert os.pread(r, 10, 0) == b"line\n"
os.close(os.open("log/plain", os.O_RDONLY))
if passthrough:
    refused(errno.ETXTBSY, lambda: os.open("log/plain", os.O_RDWR | os.O_APPEND))
os.close(r)
os.close(w)
for i in range(20):
    os.close(os.open("log/plain", os.O_RDWR | os.O_APPEND))
    os.close(os.open("log/plain", os.O_RDONLY))
# the file, by its name, by a further name, below a directory, by exchange
fd = make("b")
refused(errno.EXDEV, lambda: os.rename("b", "log/b"))
refused(errno.EXDEV, lambda: os.link("b", "log/b"))
os.makedirs("d/e")
fd2 = make("d/e/f")
refused(errno.EXDEV, lambda: os.rename("d", "log/d"))
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
# RENAME_EXCHANGE
if libc.renameat2(-100, b"b", -100, b"free/b", 2) != 0:
    sys.exit("FAIL: control of exchange")
if libc.renameat2(-100, b"free/b", -100, b"log/plain", 2) == 0 or ctypes.get_errno() not in (
        errno.EXDEV, errno.EACCES):
    sys.exit("FAIL: exchange")
os.pwrite(fd, b"X", 0)
os.close(fd2)
# a mapping outlives its handle; where the kernel keeps it (passthrough), that is not seen any more
m = mmap.mmap(os.open("d/e/f", os.O_RDWR), 6)
fd3 = os.open("d/e/f", os.O_RDONLY)
for n in os.listdir("/proc/self/fd"):
    if int(n) > 2 and int(n) != fd3:
        try:
            if os.readlink("/proc/self/fd/" + n).endswith("/d/e/f"):
                os.close(int(n))
        except OSError:
            pass
refused(errno.EXDEV, lambda: os.rename("d/e/f", "log/f"))
refused(errno.EXDEV, lambda: os.rename("d", "log/d"))
