# SPDX-License-Identifier: Apache-2.0
"""N: exits 0 where a limit stops it at fewer than N processes."""
import os
import sys

try:
    for _ in range(int(sys.argv[1])):
        if os.fork() == 0:
            os.read(os.pipe()[0], 1)
except BlockingIOError:
    os._exit(0)
os._exit(1)
