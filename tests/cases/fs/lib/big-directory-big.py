# SPDX-License-Identifier: Apache-2.0
# Part of ../big-directory.sh.
import ctypes, os, random, sys
n = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.opendir.argtypes = [ctypes.c_char_p]
libc.readdir.argtypes = libc.telldir.argtypes = libc.rewinddir.argtypes = libc.closedir.argtypes = [ctypes.c_void_p]
libc.telldir.restype = ctypes.c_long
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]

class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_ushort),
                ("type", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]
def read(d):
    p = libc.readdir(d)
    return Dirent.from_address(p).name if p else None
def same(a, b, what):
    if a != b:
        sys.exit("FAIL: %s: %r is not %r" % (what, a, b))

os.chdir("big")
for again in range(2):
    names = os.listdir(b".")
    same(len(names), n, "listed")
    same(len(set(names)), n, "each once")
    same([x for x in names if x.endswith(b".pem")], [], "hidden")
d = libc.opendir(b".")
at, order = [libc.telldir(d)], []
while True:
    name = read(d)
    if name is None:
        break
    order.append(name)
    at.append(libc.telldir(d))
same(set(order), set(names) | {b".", b".."}, "readdir")
same(len(order), n + 2, "readdir, each once")
random.seed(1)
d2 = libc.opendir(b".")
for i in random.sample(range(len(order) - 1), 100):
    for each in (d, d2):
        libc.seekdir(each, at[i])
        same((read(each), read(each)), (order[i], order[i + 1]), "after seekdir to %d" % i)
libc.rewinddir(d)
same(read(d), order[0], "after rewinddir")
libc.closedir(d2)
# half of it, then changes, then the rest
libc.rewinddir(d)
seen = [read(d) for i in range(n // 2)]
for i in range(1000):
    os.close(os.open("new-%d" % i, os.O_CREAT | os.O_WRONLY))
gone = set(order[-500:]) - {b".", b".."}
for name in gone:
    os.unlink(name)
while True:
    name = read(d)
    if name is None:
        break
    seen.append(name)
libc.closedir(d)
left = set(order) - gone
stay = [x for x in seen if x in left]
same(len(stay), len(set(stay)), "each once, with changes")
same(len(stay), n + 2 - len(gone), "all, with changes")
same(len(os.listdir(b".")), n - len(gone) + 1000, "listed anew")
for name in os.listdir(b"."):
    os.unlink(name)
same(os.listdir(b"."), [], "empty")
