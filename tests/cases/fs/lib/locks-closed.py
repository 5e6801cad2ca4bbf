# SPDX-License-Identifier: Apache-2.0
"""Closing any descriptor of a file ends the POSIX locks of the program on it: also one that was
opened only for reading, after the lock was taken."""
import fcntl
import os
import struct
import sys


def held():
    """Is the file locked? As another program sees it."""
    pid = os.fork()
    if not pid:
        with open("f", "r+b") as f:
            asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            found = fcntl.fcntl(f, fcntl.F_GETLK, asked)
        os._exit(struct.unpack("hhqqi4x", found)[0] != fcntl.F_UNLCK)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


for flags, how in ((os.O_RDWR, fcntl.LOCK_EX), (os.O_RDONLY, fcntl.LOCK_SH)):
    fd = os.open("f", flags)
    fcntl.lockf(fd, how)
    if not held():
        sys.exit("the control: a lock is not held")
    os.close(os.open("f", os.O_RDONLY))
    if held():
        sys.exit(f"{how}: a lock outlives the closing of another descriptor")
    os.close(fd)
