# SPDX-License-Identifier: Apache-2.0
# Part of ../io.sh.
import errno, mmap, os, subprocess, sys
fd = os.open("data", os.O_RDWR)
assert os.pread(fd, 3, 5) == b"567"
assert os.pread(fd, 100, 8) == b"89"
assert os.pwrite(fd, b"XY", 1) == 2
try:
    m = mmap.mmap(fd, 10, mmap.MAP_SHARED)
    print("shared", m[0:3])
except OSError as e:
    print("shared", errno.errorcode[e.errno])
print("private", mmap.mmap(fd, 10, mmap.MAP_PRIVATE)[0:3])
os.close(fd)
log = os.open("log", os.O_WRONLY | os.O_APPEND)
assert os.write(log, b"line\n") == 5
os.close(log)
out = os.open("new", os.O_WRONLY | os.O_CREAT, 0o600)
assert os.write(out, b"n" * 300000) == 300000
os.close(out)
sys.exit(subprocess.call(["./prog"]))
