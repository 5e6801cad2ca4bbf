# SPDX-License-Identifier: Apache-2.0
"""take.py DIR -- [COMMAND...]: watches directories in DIR until the kernel refuses; how many, then COMMAND."""
import ctypes
import os
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
# FAN_CLOEXEC | FAN_REPORT_DFID_NAME, FAN_MARK_ADD | FAN_MARK_ONLYDIR, FAN_CREATE
fd = libc.fanotify_init(0x1 | 0xc00, os.O_RDONLY)
assert fd >= 0, os.strerror(ctypes.get_errno())
n = 0
for name in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], name).encode()
    if libc.fanotify_mark(fd, 0x1 | 0x8, ctypes.c_uint64(0x100), -100, path) < 0:
        break
    n += 1
rest = sys.argv[sys.argv.index("--") + 1:]
print(n, *([subprocess.run(rest, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()] if rest else []))
