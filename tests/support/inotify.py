# SPDX-License-Identifier: Apache-2.0
"""inotify.py SECONDS PATH…: prints what inotify(7) tells of these paths, a line each: PATH MASK… NAME. First
"ready". Ends when a file that is called `stop` comes into being in one of them, or after SECONDS."""
import ctypes
import os
import select
import struct
import sys
import time

NAMES = {0x2: "modify", 0x4: "attrib", 0x8: "close-write", 0x40: "moved-from", 0x80: "moved-to", 0x100: "create",
         0x200: "delete", 0x400: "delete-self", 0x800: "move-self", 0x2000: "unmount", 0x4000: "overflow",
         0x8000: "ignored", 0x40000000: "dir"}
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(os.O_CLOEXEC)
watches = {}
for path in sys.argv[2:]:
    wd = libc.inotify_add_watch(fd, path.encode(), 0xfce)
    if wd < 0:
        sys.exit("%s: %s" % (path, os.strerror(ctypes.get_errno())))
    watches[wd] = path
print("ready", flush=True)
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    if not select.select([fd], [], [], 1)[0]:
        continue
    data = os.read(fd, 65536)
    while data:
        wd, mask, _, n = struct.unpack_from("iIII", data)
        name = data[16:16 + n].rstrip(b"\0").decode()
        data = data[16 + n:]
        words = [w for bit, w in NAMES.items() if mask & bit]
        print(watches.get(wd, "-"), " ".join(words), name or ".", flush=True)
        if name == "stop":
            sys.exit(0)
