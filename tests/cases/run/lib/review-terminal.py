# SPDX-License-Identifier: Apache-2.0
"""review-terminal.py WARDFS SESSION: answers the questions of an apply on a terminal."""
import os
import pty
import sys

ANSWERS = [(b"Apply this change", b"n\n"), (b"Apply this hunk", b"y\n"), (b"Apply this hunk", b"q\n")]

pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "review", "apply", "-s", sys.argv[2], "-i"])
seen, left = b"", list(ANSWERS)
while True:
    try:
        more = os.read(fd, 4096)
    except OSError:
        break
    if not more:
        break
    seen += more
    if left and left[0][0] in seen and seen.rstrip().endswith(b"]?"):
        os.write(fd, left.pop(0)[1])
        seen = b""
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
if left or status != 0:
    sys.exit(f"FAIL: {status}, {left}, {seen!r}")
