#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostgiven.py SHUT OTHER UID PROGRAM [ARG…]: as root; executes the program as UID, with a socket as
standard input by which it gets three descriptors: SHUT, opened for reading and writing; SHUT, opened
for reading; and /dev/fuse of a mount that belongs to the user OTHER."""
import ctypes
import os
import socket
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
libc = ctypes.CDLL(None, use_errno=True)


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def foreign(uid, to):
    """A mount of that user's, which lasts as long as somebody has the descriptor."""
    become(uid)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self is ours again
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{uid} {uid} 1")):
        with open("/proc/self/" + name, "wb") as f:
            f.write(text.encode())
    dev = os.open("/dev/fuse", os.O_RDWR)
    if libc.mount(b"x", b"/mnt", b"fuse", 6, f"fd={dev},rootmode=40000,user_id={uid},group_id={uid}".encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    socket.send_fds(to, [b"x"], [dev])


shut, other, uid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ours, theirs = socket.socketpair()
ours.settimeout(60)
pid = os.fork()
if pid == 0:
    foreign(other, theirs)
    theirs.recv(1)  # the mount is there until its namespace has no process any more
    os._exit(0)
_, fds, _, _ = socket.recv_fds(ours, 1, 1)
inside, outside = socket.socketpair()
socket.send_fds(outside, [b"x"], [os.open(shut, os.O_RDWR), os.open(shut, os.O_RDONLY), fds[0]])
child = os.fork()
if child == 0:
    os.dup2(inside.fileno(), 0)
    become(uid)
    libc.prctl(4, 1, 0, 0, 0)
    os.execv(sys.argv[4], sys.argv[4:])
status = os.waitpid(child, 0)[1]
ours.send(b"x")
os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
