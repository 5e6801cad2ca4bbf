# SPDX-License-Identifier: Apache-2.0
# Part of ../io.sh.
import errno, os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fd = os.open("big", os.O_RDWR | os.O_CREAT)
try:
    os.posix_fallocate(fd, 0, 1 << 60)
except OSError as e:
    print("fallocate", errno.errorcode[e.errno])
