# SPDX-License-Identifier: Apache-2.0
# Part of ../faults-killed.sh.
import errno, os, sys
os.makedirs("brim", exist_ok=True)
while True:
    fd, have = os.open("brim/%d" % os.getpid(), os.O_WRONLY | os.O_CREAT), 0
    try:
        while True:
            have += os.write(fd, b"x" * 777)
    except OSError as e:
        if e.errno != errno.EDQUOT:
            raise
    os.close(fd)
    if sys.argv[1:] == ["once"]:
        sys.exit(print(have))
    os.unlink("brim/%d" % os.getpid())
