# SPDX-License-Identifier: Apache-2.0
"""full-disk-agent.py HOW: inside a session, on a disk that has the trail as well.

fill: until there is no room at all, and ends. free: the same, then looks at files until that is
refused, then removes what it wrote, and makes a file again. hold: looks at files until a removal is
refused too, waits for the file `go`, and makes a file.
"""
import errno
import os
import sys
import time

how = sys.argv[1]


def fill():
    n, fd = 1 << 20, os.open("filler", os.O_WRONLY | os.O_CREAT, 0o600)
    while n:
        try:
            os.write(fd, b"x" * n)
        except OSError as e:
            assert e.errno in (errno.ENOSPC, errno.EIO), e
            n //= 2
    os.close(fd)
    try:
        with open("more", "wb") as f:
            f.write(bytes(1 << 16))
        raise AssertionError("control: the disk has room")
    except OSError as e:
        assert e.errno == errno.ENOSPC, e


def look(most):
    """Opens a file until that fails: how often it did not."""
    for n in range(most):
        try:
            os.close(os.open("seen", os.O_RDONLY))
        except OSError as e:
            print("look:", errno.errorcode[e.errno], n, flush=True)
            return n
    print("look: never refused", flush=True)
    return most


for i in range(8000 if how == "hold" else 20):
    open(f"d/{i}", "w").close()
fill()
if how == "fill":
    sys.exit(0)
look(20000)
if how == "hold":
    n = 0
    try:
        for i in range(8000):
            os.unlink(f"d/{i}")
            n += 1
    except OSError as e:
        print("remove:", errno.errorcode[e.errno], n, flush=True)
    while not os.path.exists("go"):
        time.sleep(0.1)
else:
    for i in range(20):
        os.unlink(f"d/{i}")
    print("removed: 20", flush=True)
    os.unlink("filler")
end = time.monotonic() + 60
while True:
    try:
        open("again", "w").close()
        break
    except OSError as e:
        assert time.monotonic() < end, e
        time.sleep(0.1)
print("again", flush=True)
