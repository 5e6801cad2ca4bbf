# SPDX-License-Identifier: Apache-2.0
# Part of ../trunc.sh.
import errno, os, sys
def size(name, flags):
    try:
        fd = os.open(name, flags)
    except OSError as e:
        return errno.errorcode[e.errno], os.stat(name).st_size
    try:
        os.write(fd, b"x")
        sys.exit("FAIL: written through O_RDONLY")
    except OSError as e:
        assert e.errno == errno.EBADF, e
    got = os.read(fd, 100), os.fstat(fd).st_size
    os.close(fd)
    return got
for name, flags, want in (
        ("plain", 0, (b"data", 4)), ("plain", os.O_TRUNC, (b"", 0)),
        ("ro/f", 0, (b"data", 4)), ("ro/f", os.O_TRUNC, ("EACCES", 4)),
        ("mode", 0, (b"data", 4)), ("mode", os.O_TRUNC, ("EACCES", 4))):
    got = size(name, os.O_RDONLY | flags)
    if got != want:
        sys.exit("FAIL: %s %o: %s, not %s" % (name, flags, got, want))
