# SPDX-License-Identifier: Apache-2.0
# Part of ../keep.sh.
"""COMMAND...: runs it on a terminal, where the answer of standard input is typed; prints what it shows."""
import os
import pty
import sys

answer = sys.stdin.buffer.readline()
shown = b""
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
asked = False
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:  # the terminal's other side is closed
        break
    if not piece:
        break
    shown += piece
    if not asked and b"[y/N]" in shown:
        asked = True
        os.write(fd, answer)
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
