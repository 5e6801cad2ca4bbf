# SPDX-License-Identifier: Apache-2.0
"""Inside: argv[1] is a directory of which one file shows. Tries to come from it to another, and to change it."""
import os
import sys

K = sys.argv[1]
ONE = K + "/one"


def refused(call, *args, **more):
    try:
        call(*args, **more)
    except OSError:
        return
    sys.exit(f"not refused: {call.__name__} {args}")


fd = os.open(ONE, os.O_RDONLY)
refused(os.open, "../beside", os.O_RDONLY, dir_fd=fd)
refused(os.open, "..", os.O_RDONLY, dir_fd=fd)
refused(os.open, K + "/beside", os.O_RDONLY)
refused(os.open, f"/proc/self/fd/{fd}/../beside", os.O_RDONLY)
for flags in os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND:
    refused(os.open, ONE, flags)
    refused(os.open, f"/proc/self/fd/{fd}", flags)
refused(os.chmod, ONE, 0o777)
refused(os.utime, ONE)
refused(os.setxattr, ONE, "user.a", b"1")
refused(os.link, ONE, K + "/other")
refused(os.unlink, ONE)
refused(os.rename, ONE, K + "/other")
print(sorted(os.listdir(K)))
