# SPDX-License-Identifier: Apache-2.0
# Part of ../locks.sh.
import fcntl, sys
f = open(sys.argv[1], "r+b")
lock = fcntl.lockf if sys.argv[2] == "posix" else fcntl.flock
try:
    lock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError as e:
    assert e.errno in (11, 13), e
    print("busy")
else:
    print("free")
