# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal, types a word after it, and prints who has read the word."""
import os
import pty
import select
import sys
import time

stolen, command = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", '"$@"; echo ready; read -r x; echo "got=$x"; exec sleep 60', "sh"]
              + command)
end = time.monotonic() + 120
out, typed, answer = b"", False, "nobody"
while time.monotonic() < end and answer == "nobody":
    if select.select([fd], [], [], 0.05)[0]:
        try:
            out += os.read(fd, 4096)
        except OSError:
            break
    if not typed and b"ready" in out:
        os.write(fd, b"password\n")
        typed = True
    if b"got=password" in out:
        answer = "caller"
    if os.path.exists(stolen) and b"password" in open(stolen, "rb").read():
        answer = "thief"
os.kill(pid, 9)
os.waitpid(pid, 0)
print(answer)
if answer == "nobody":
    print(out)
