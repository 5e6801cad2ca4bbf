# SPDX-License-Identifier: Apache-2.0
"""Part of ../direct.sh: direct.py SECONDS: writes a file asynchronously and past the page cache,
while others read it through the cache. What is written is what the next read finds."""
import ctypes
import mmap
import os
import signal
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
SIZE = 160 * 4096
READERS = 3


def system(number, *args):
    found = libc.syscall(number, *args)
    if found < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    return found


def written(fd, room, context):
    """By io_submit(2) and io_getevents(2)."""
    one = ctypes.create_string_buffer(struct.pack("QIIHhIQQqQII", 0, 0, 0, 1, 0, fd, ctypes.addressof(room), SIZE,
                                                  0, 0, 0, 0))
    done = ctypes.create_string_buffer(32)
    system(209, context, 1, (ctypes.c_void_p * 1)(ctypes.addressof(one)))
    system(208, context, 1, 1, done, None)
    if struct.unpack_from("q", done.raw, 16)[0] != SIZE:
        sys.exit("a short write")


with open("file", "wb") as f:
    f.write(bytes(SIZE))
readers = []
for _ in range(READERS):
    pid = os.fork()
    if pid == 0:
        while True:
            with open("file", "rb", buffering=0) as f:
                f.read(SIZE)
    readers.append(pid)
stale, count, end = 0, 0, time.monotonic() + int(sys.argv[1])
try:
    fd, again = os.open("file", os.O_RDWR | os.O_DIRECT), os.open("file", os.O_RDONLY)
    context = ctypes.c_ulong()
    system(206, 1, ctypes.byref(context))
    pages = mmap.mmap(-1, SIZE)
    room = (ctypes.c_char * SIZE).from_buffer(pages)
    while time.monotonic() < end and not stale:
        count += 1
        content = bytes([count % 255 + 1]) * SIZE
        pages[:] = content
        written(fd, room, context)
        stale += os.pread(again, SIZE, 0) != content
finally:
    for pid in readers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
print(count, "writes", file=sys.stderr)
if stale:
    sys.exit(f"write {count}: old data")
