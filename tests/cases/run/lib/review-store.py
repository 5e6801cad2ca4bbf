# SPDX-License-Identifier: Apache-2.0
"""review-store.py FILE BYTE [mapped]: the first byte of a file, with its times as they were."""
import mmap
import os
import sys

fd = os.open(sys.argv[1], os.O_RDWR)
st = os.fstat(fd)
if sys.argv[3:]:
    mapping = mmap.mmap(fd, st.st_size)
    mapping[0:1] = sys.argv[2].encode()
    mapping.close()
else:
    os.pwrite(fd, sys.argv[2].encode(), 0)
os.utime(fd, ns=(st.st_atime_ns, st.st_mtime_ns))
