# SPDX-License-Identifier: Apache-2.0
# Part of ../segments.sh.
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
SIZE = 16 << 20
def segment(i):
    shm = libc.shmget(int(sys.argv[2]) + i, SIZE, 0o1600)
    at = libc.shmat(shm, None, 0)
    ctypes.memset(at, 1, SIZE)
def shared(i):
    with open(f"/dev/shm/{i}", "wb") as f:
        f.write(bytes(SIZE))
def tmp(i):
    with open(f"/tmp/{i}", "wb") as f:
        f.write(bytes(SIZE))
def memfd(i):
    os.write(held[i], bytes(SIZE))
held = [os.memfd_create("m") for _ in range(10)] if sys.argv[1] == "memfd" else []
lost = 0
for i in range(10):
    pid = os.fork()
    if pid == 0:
        globals()[sys.argv[1]](i)
        os._exit(0)
    lost += os.waitpid(pid, 0)[1] != 0
print("lost" if lost else "all")
