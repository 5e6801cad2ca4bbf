# SPDX-License-Identifier: Apache-2.0
"""Part of ../answers.sh: tells whether a directory can be mounted with other ids (MOUNT_ATTR_IDMAP)."""
import ctypes
import errno
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
IDMAP, EMPTY_PATH, CLONE = 0x100000, 0x1000, 1  # MOUNT_ATTR_IDMAP, AT_EMPTY_PATH, OPEN_TREE_CLONE

# A user namespace, which lasts as long as its process.
ready, go = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    os.close(go[1])
    libc.unshare(0x10000000)  # CLONE_NEWUSER
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    os._exit(0)
os.read(ready[0], 1)
for name in "uid_map", "gid_map":
    with open(f"/proc/{pid}/{name}", "w", encoding="ascii") as f:
        f.write("0 10000 1000")
users = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
tree = libc.syscall(428, -100, sys.argv[1].encode(), CLONE)  # open_tree(2)
if tree < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
room = struct.pack("QQQQ", IDMAP, 0, 0, users)
r = libc.syscall(442, tree, b"", EMPTY_PATH, room, len(room))  # mount_setattr(2)
print("done" if r == 0 else errno.errorcode[ctypes.get_errno()])
os.close(go[1])
os.waitpid(pid, 0)
