# SPDX-License-Identifier: Apache-2.0
"""Part of ../setuid.sh: setuid-others.py UID GID: what is left of the mode of a file of UID and GID
when UID, who is in the group, writes to it, or calls chown(2) for no other owner."""
import os
import sys

uid, gid = map(int, sys.argv[1:])


def write(path):
    with open(path, "r+b", buffering=0) as f:
        f.write(b"x")


for mode, call in ((0o4755, write), (0o2775, write), (0o2664, write), (0o4755, lambda path: os.chown(path, -1, -1)),
                   (0o4755, lambda path: os.chown(path, uid, -1))):
    with open("others", "w", encoding="ascii") as f:
        f.write("content")
    os.chown("others", uid, gid)
    os.chmod("others", mode)
    pid = os.fork()
    if pid == 0:
        os.setgroups([gid])
        os.setgid(uid)
        os.setuid(uid)
        call("others")
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit("a call failed")
    print("%o" % (os.stat("others").st_mode & 0o7777), end=" ")
    os.unlink("others")
