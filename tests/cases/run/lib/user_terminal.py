# SPDX-License-Identifier: Apache-2.0
"""A user at a terminal: a shell with job control on a pty, in which wardfs is started."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

WARDFS = os.environ["WARD_BUILD"] + "/wardfs"
# Ends a wait that would never end.
LIMIT = 200.0


def fail(text):
    sys.exit(f"FAIL: {text}")


def until(what, test):
    end = time.monotonic() + LIMIT
    while not test():
        if time.monotonic() > end:
            fail(f"never: {what}")
        time.sleep(0.01)


class Terminal:
    def __init__(self, rows, cols):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.size(rows, cols)
        self.seen = b""
        # In two parts, so that the echo of this line is no prompt.
        self.send("PS1='REA''DY> '; bind 'set enable-bracketed-paste off' 2>/dev/null\n")
        self.wait(r"READY> $")

    def size(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern):
        """Waits for the pattern in what came since the last match, and returns the match."""
        end = time.monotonic() + LIMIT
        while True:
            m = re.search(pattern.encode(), self.seen, re.M)
            if m:
                self.seen = self.seen[m.end():]
                return m
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                fail(f"never saw {pattern!r}; had {self.seen[-2000:]!r}")
            self.seen += os.read(self.fd, 65536)
