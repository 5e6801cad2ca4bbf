# SPDX-License-Identifier: Apache-2.0
"""index-swapped-exchange.py A B: exchanges the two names until it is killed."""
import ctypes
import os
import random
import sys

AT_FDCWD, RENAME_EXCHANGE = -100, 2
libc = ctypes.CDLL(None, use_errno=True)
a, b = (os.fsencode(name) for name in sys.argv[1:])
print("begins", flush=True)
while True:
    if libc.renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    for _ in range(random.randrange(400)):
        pass
