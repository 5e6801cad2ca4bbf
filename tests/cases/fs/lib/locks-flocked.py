# SPDX-License-Identifier: Apache-2.0
# Part of ../locks.sh.
import fcntl, os, signal, sys
signal.alarm(60)
for how in (os.O_RDONLY, os.O_RDWR):
    for kind in (fcntl.LOCK_SH, fcntl.LOCK_EX):
        for name in ("f", sys.argv[1]):
            f = os.open("f", how)
            fcntl.flock(f, kind)
            os.close(f)
            f = os.open(name, os.O_RDWR)
            fcntl.flock(f, fcntl.LOCK_EX)
            os.close(f)
