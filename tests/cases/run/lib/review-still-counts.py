# SPDX-License-Identifier: Apache-2.0
"""counts.py FILE MIB: stores two counters, far apart, through a
mapping: the first is never behind the second, nor more than one before it."""
import mmap
import os
import sys

fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, int(sys.argv[2]) << 20)
v = memoryview(mmap.mmap(fd, 0)).cast("Q")
last = len(v) - 1
os.close(fd)
for page in range(0, len(v), 512):
    v[page] = 1
v[0] = v[last] = 0
print("counts", flush=True)
i = 0
while True:
    i += 1
    v[0] = i
    v[last] = i
