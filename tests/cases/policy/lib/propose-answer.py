# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal and types one answer to each of its questions; exits with its status."""
import os
import pty
import sys

cut = sys.argv.index("--")
answers, command = sys.argv[1:cut], sys.argv[cut + 1:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
seen = b""
while True:
    try:
        more = os.read(fd, 4096)
    except OSError:  # EIO: nobody has the terminal open any more
        break
    if not more:
        break
    sys.stdout.buffer.write(more)
    seen += more
    if seen.endswith(b"[n] ") and answers:
        os.write(fd, answers.pop(0).encode() + b"\n")
        seen = b""
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
