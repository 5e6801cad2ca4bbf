# SPDX-License-Identifier: Apache-2.0
# Part of ../trail.sh.
import errno, os, sys, time
def refused(what):
    try:
        what()
    except OSError as e:
        if e.errno != errno.EIO:
            sys.exit("FAIL: %s" % e)
        return
    sys.exit("FAIL: done without a trail")
plain = os.open("held", os.O_RDWR)
src = os.open("src", os.O_RDONLY)
log = os.open("log/x", os.O_WRONLY | os.O_APPEND)
def attempts():
    yield lambda: os.write(log, b"log\n")
    if sys.argv[1] != "root":
        yield lambda: os.pwrite(plain, b"x", 0)
    yield lambda: os.posix_fallocate(plain, 0, 100)
    yield lambda: os.ftruncate(plain, 0)
    yield lambda: os.copy_file_range(src, plain, 3, 0, 4)
for what in attempts():
    what()
os.ftruncate(plain, 0)
os.pwrite(plain, b"good", 0)
try:
    os.close(os.open("fail", os.O_CREAT | os.O_WRONLY))
except OSError as e:
    if e.errno != errno.EIO:
        raise
for i in range(12000):
    try:
        os.close(os.open("src", os.O_RDONLY))
    except OSError:
        break
    time.sleep(0.005)
for what in attempts():
    refused(what)
