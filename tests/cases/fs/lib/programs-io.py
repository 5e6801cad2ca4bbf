# SPDX-License-Identifier: Apache-2.0
# Part of ../programs.sh.
import mmap, os, socket, sys
f = open("mm", "w+b")
f.truncate(8192)
m = mmap.mmap(f.fileno(), 8192)
m[0:5] = b"hello"
m[5000:5003] = b"end"
m.flush()
m.close()
f.close()
d = open("mm", "rb").read()
assert d[:5] == b"hello" and d[5000:5003] == b"end", d[:8]
# unlinked but open; reopened through /proc
f = open("gone", "w+b")
f.write(b"still here")
f.flush()
os.unlink("gone")
assert os.fstat(f.fileno()).st_nlink == 0
assert open("/proc/self/fd/%d" % f.fileno(), "rb").read() == b"still here"
os.ftruncate(f.fileno(), 5)
os.fchmod(f.fileno(), 0o600)
assert os.fstat(f.fileno()).st_size == 5
# A removed file is reached by whoever holds it, also by O_PATH alone.
for flags in (os.O_RDONLY, os.O_PATH):
    open("gone", "w").close()
    fd = os.open("gone", flags)
    assert os.fstat(fd).st_nlink == 1
    os.unlink("gone")
    assert os.fstat(fd).st_nlink == 0
    os.close(os.open("/proc/self/fd/%d" % fd, os.O_RDONLY))
    os.close(fd)
# RLIMIT_FSIZE holds, whoever writes
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10000, unlimited[1]))
fd = os.open("limited", os.O_RDWR | os.O_CREAT, 0o644)
src = os.open("/bin/true", os.O_RDONLY)
assert os.write(fd, b"x" * 20000) == 10000
for what in (lambda: os.write(fd, b"x"), lambda: os.ftruncate(fd, 10001), lambda: os.pwrite(fd, b"x", 10000),
             lambda: os.posix_fallocate(fd, 0, 10001), lambda: os.sendfile(fd, src, 0, 1)):
    try:
        what()
        raise SystemExit("larger than RLIMIT_FSIZE")
    except OSError as e:
        assert e.errno == 27, e
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
assert os.pwrite(fd, b"x", 10000) == 1 and os.fstat(fd).st_size == 10001
os.close(fd)
# O_APPEND set and cleared by F_SETFL
import fcntl
fd = os.open("ap", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
os.write(fd, b"12345")
os.lseek(fd, 0, 0)
os.write(fd, b"678")
# docs/posix.md: a passthrough handle goes on appending
if sys.argv[1] not in ("root", "other"):
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)
os.lseek(fd, 0, 0)
os.write(fd, b"A")
want = b"12345678A" if sys.argv[1] in ("root", "other") else b"A2345678"
assert open("ap", "rb").read() == want, open("ap", "rb").read()
# names, 255 bytes long, of any bytes
for n in (b"n" * 255, b"new\nline", b"\x01\x1b[31m", b"\xff\xfe", b"a b'\"\\"):
    with open(n, "wb") as g:
        g.write(n)
    assert n in os.listdir(b".") and open(n, "rb").read() == n
    os.unlink(n)
try:
    open(b"n" * 256, "wb")
    raise SystemExit("a name of 256 bytes")
except OSError as e:
    assert e.errno == 36, e
# offsets of listings hold across other reads
os.mkdir("many")
for i in range(500):
    open("many/%d" % i, "w").close()
assert len(os.listdir("many")) == 500
assert len({e.inode() for e in os.scandir("many")}) == 500
# extended attributes
os.setxattr("mm", b"user.x", b"y" * 100)
assert os.getxattr("mm", "user.x") == b"y" * 100 and os.listxattr("mm") == ["user.x"]
os.removexattr("mm", "user.x")
for n, want in (("security.capability", 1), ("trusted.x", 1), ("system.x", 95), ("no.x", 95)):
    try:
        os.setxattr("mm", n, b"\x01\x00\x00\x02" + b"\0" * 16)
        raise SystemExit(n)
    except OSError as e:
        assert e.errno == want, (n, e)
# renames that exchange, and that must not replace
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("x1/in")
open("x2", "w").close()
assert libc.renameat2(-100, b"x1", -100, b"x2", 2) == 0
assert os.path.isdir("x2/in") and os.path.isfile("x1")
assert libc.renameat2(-100, b"x1", -100, b"x2", 1) == -1 and ctypes.get_errno() == 17
assert libc.renameat2(-100, b"x1", -100, b"x3", 1) == 0 and os.path.isfile("x3")
assert libc.renameat2(-100, b"x3", -100, b"x4", 4) == 0 and os.path.isfile("x4")
assert os.lstat("x3").st_rdev == 0 and not os.path.isfile("x3")
s = socket.socket(socket.AF_UNIX)
s.bind("sock")
os.posix_fallocate(os.open("fa", os.O_RDWR | os.O_CREAT), 0, 100000)
assert os.stat("fa").st_size == 100000
a = os.open("ap", os.O_RDONLY)
b = os.open("cfr", os.O_WRONLY | os.O_CREAT)
assert os.copy_file_range(a, b, 100) == os.stat('ap').st_size
assert os.lseek(os.open('mm', os.O_RDONLY), 0, os.SEEK_DATA) == 0
st = os.statvfs(".")
assert st.f_namemax == 255
# setuid goes with the first write by a process without CAP_FSETID, in a session with the open
# before it
if os.geteuid():
    assert os.stat("suid").st_mode & 0o4000
    fd = os.open("suid", os.O_RDWR)
    os.write(fd, b"x")
    os.close(fd)
    assert not os.stat("suid").st_mode & 0o4000
