# SPDX-License-Identifier: Apache-2.0
# Part of ../keep.sh.
import mmap, os, time
os.utime("d/e/f", (1, 1))
fd = os.open("d/e/f", os.O_RDWR)
assert os.stat("d/e/f").st_mtime == 1
with mmap.mmap(fd, 4) as m:
    m[0:1] = b"X"
    m.flush()
    os.close(fd)
    for _ in range(1200):
        if os.stat("d/e/f").st_mtime > 1:
            break
        time.sleep(0.05)
    else:
        raise SystemExit("FAIL: the time of a store does not show")
