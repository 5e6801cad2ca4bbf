# SPDX-License-Identifier: Apache-2.0
"""git-dead-mount.py DIR: mounts a file system in user space at DIR that never answers, says so, and takes it
away at the end of its input."""
import ctypes
import os
import sys

MNT_DETACH = 2
libc = ctypes.CDLL(None, use_errno=True)
fuse = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other"
if libc.mount(b"dead", os.fsencode(sys.argv[1]), b"fuse", 0, options.encode()) < 0:
    sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
print("mounted", flush=True)
sys.stdin.read()
libc.umount2(os.fsencode(sys.argv[1]), MNT_DETACH)
