# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-memory.sh: starts /usr/bin/env again and again, with its path and arguments in
# memory of another kind each time. The second argument names the kind: SAID=kind.
import ctypes
import errno
import mmap
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
SIZE = 4096
READ, WRITE, EXEC = 1, 2, 4
MEMFD_SECRET = 447
PR_SET_DUMPABLE = 4


def start(kind, flags, fd, protection):
    """Prints KIND and the exit status of env, or why there is none."""
    address = libc.mmap(None, SIZE, READ | WRITE, flags, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        print(kind, "no memory:", errno.errorcode[ctypes.get_errno()], flush=True)
        return
    words = [b"/usr/bin/env", b"env", b"SAID=" + kind.encode(), b"/usr/bin/true"]
    places = []
    at = address + 512
    for word in words:
        ctypes.memmove(at, word + b"\0", len(word) + 1)
        places.append(at)
        at += 128
    table = (ctypes.c_void_p * 4)(places[1], places[2], places[3], None)
    ctypes.memmove(address, table, ctypes.sizeof(table))
    if libc.mprotect(address, SIZE, protection):
        print(kind, "no protection:", errno.errorcode[ctypes.get_errno()], flush=True)
        return
    child = os.fork()
    if child == 0:
        if kind.startswith("undumpable"):
            libc.prctl(PR_SET_DUMPABLE, 0)
        libc.syscall(59, ctypes.c_void_p(places[0]), ctypes.c_void_p(address), None)
        os._exit(100 + ctypes.get_errno())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(kind, "ran" if status == 0 else errno.errorcode.get(status - 100, status), flush=True)


private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
shared = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
start("plain", private, -1, READ | WRITE)
start("none", private, -1, 0)
start("undumpable", private, -1, READ | WRITE)
start("undumpable-write-only", private, -1, WRITE)
start("write-only", private, -1, WRITE)
start("write-only-shared", shared, -1, WRITE)
start("exec-only", private, -1, EXEC)
start("write-exec", private, -1, WRITE | EXEC)
name = sys.argv[1]
tree = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(tree, SIZE)
start("tree-file", mmap.MAP_PRIVATE, tree, WRITE)
own = os.open("/tmp/own", os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(own, SIZE)
start("tmp-file", mmap.MAP_SHARED, own, WRITE)
secret = libc.syscall(MEMFD_SECRET, 0)
if secret < 0:
    print("secret no memory:", errno.errorcode[ctypes.get_errno()])
else:
    os.ftruncate(secret, SIZE)
    start("secret", mmap.MAP_SHARED, secret, READ | WRITE)
