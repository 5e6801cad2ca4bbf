# SPDX-License-Identifier: Apache-2.0
"""Part of ../replay.sh. Watches a directory that it may not change, in which the host makes and removes names all
the while, and asks for the same as our process that replays it."""
import ctypes
import os
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
inotify = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
directory = sys.argv[1]
if libc.inotify_add_watch(inotify, directory.encode(), 0x3c6) < 0:
    sys.exit("inotify_add_watch")
f, d = os.path.join(directory, "f"), os.path.join(directory, "d")
attempts = [lambda: os.unlink(f), lambda: os.rmdir(d), lambda: os.mkdir(d), lambda: os.mknod(f),
            lambda: os.utime(f), lambda: os.symlink("-", f), lambda: os.rename(f, d)]
print("ready", flush=True)
tried = events = 0
until = time.monotonic() + 1
while time.monotonic() < until or not events and time.monotonic() < until + 60:
    for number, attempt in enumerate(attempts):
        try:
            attempt()
            sys.exit("attempt %d succeeded" % number)
        except (PermissionError, FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError):
            tried += 1
        except OSError as e:
            if e.errno not in (116, 18):  # ESTALE: replaced just now; EXDEV: a rename that the rules refuse
                raise
    try:
        events += len(os.read(inotify, 65536)) // 16
    except BlockingIOError:
        pass
print("tried", tried, "events", events, flush=True)
