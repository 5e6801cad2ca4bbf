# SPDX-License-Identifier: Apache-2.0
# Part of ../between.sh.
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
KEY, NAME, IPC_CREAT = int(sys.argv[2]), "/wardfs-between-" + sys.argv[2], 0o1000
home = os.environ.get("HOME", "/nowhere")
places = ["/tmp/left", "/var/tmp/left", "/dev/shm/left", home + "/left"]

def systemv(flags):
    return {"shm": libc.shmget(KEY, 4096, flags | 0o600), "sem": libc.semget(KEY, 1, flags | 0o600),
            "msg": libc.msgget(KEY, flags | 0o600)}

def posix(flags):
    rt = ctypes.CDLL("librt.so.1", use_errno=True)
    name = NAME.encode()
    return {"posix-shm": rt.shm_open(name, flags | os.O_RDWR, 0o600)}

if sys.argv[1] in ("leave", "both"):
    made = {**systemv(IPC_CREAT), **posix(os.O_CREAT)}
    lost = [k for k, v in made.items() if v < 0]
    if lost:
        sys.exit("cannot make " + " ".join(lost))
    for p in places if sys.argv[1] == "both" or len(sys.argv) < 4 else []:
        open(p, "w").close()
if sys.argv[1] in ("find", "both"):
    found = [k for k, v in {**systemv(0), **posix(0)}.items() if v >= 0]
    found += [p for p in places if os.path.exists(p)]
    print("found", *sorted(found))
if sys.argv[1] == "remove":
    libc.shmctl(libc.shmget(KEY, 0, 0), 0, None)
    libc.semctl(libc.semget(KEY, 0, 0), 0, 0)
    libc.msgctl(libc.msgget(KEY, 0), 0, None)
    rt = ctypes.CDLL("librt.so.1")
    rt.shm_unlink(NAME.encode())
