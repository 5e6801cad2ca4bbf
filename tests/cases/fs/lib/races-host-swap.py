# SPDX-License-Identifier: Apache-2.0
# Part of ../races-host.sh.
import ctypes, os, sys
back, stop = sys.argv[1:3]
# Swaps before the agents may end.
ENOUGH = 50
libc = ctypes.CDLL(None)
os.chdir(back)
n = 0
while not os.path.exists(stop):
    assert libc.renameat2(-100, b"d", -100, b"link", 2) == 0
    # where the directory is now, not the link
    assert libc.renameat2(-100, (b"link", b"d")[n % 2] + b"/deep", -100, b"deep", 2) == 0
    n += 1
    if n == ENOUGH + 1:
        print("enough", flush=True)
assert n > ENOUGH, n
