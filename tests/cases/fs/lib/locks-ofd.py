# SPDX-License-Identifier: Apache-2.0
# Part of ../locks.sh.
import fcntl, struct
F_OFD_GETLK, F_OFD_SETLK = 36, 37
def flk(t, start=0, n=0):
    return struct.pack("hhqqi4x", t, 0, start, n, 0)
a = open("f", "r+b"); b = open("f", "r+b")
fcntl.fcntl(a, F_OFD_SETLK, flk(fcntl.F_WRLCK, 0, 10))
try:
    fcntl.fcntl(b, F_OFD_SETLK, flk(fcntl.F_WRLCK, 5, 1))
    raise SystemExit("no conflict")
except OSError as e:
    assert e.errno == 11, e
fcntl.fcntl(b, F_OFD_SETLK, flk(fcntl.F_WRLCK, 10, 1))
t = struct.unpack("hhqqi4x", fcntl.fcntl(b, F_OFD_GETLK, flk(fcntl.F_WRLCK, 0, 1)))
assert t[0] == fcntl.F_WRLCK and t[2] == 0 and t[3] == 10, t
a.close()
fcntl.fcntl(b, F_OFD_SETLK, flk(fcntl.F_WRLCK, 0, 10))
# a read lock becomes a write lock
fcntl.lockf(b, fcntl.LOCK_SH, 5, 100)
fcntl.lockf(b, fcntl.LOCK_EX, 5, 100)
