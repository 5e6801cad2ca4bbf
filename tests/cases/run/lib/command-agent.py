# SPDX-License-Identifier: Apache-2.0
"""command-agent.py SECONDS SHELL...: as an agent does: its shell tool runs a command and tells how that ended.

The command is the last argument; "SELF" in front of it is another program of the agent's own, no shell tool.
"""
import subprocess
import sys
import time

started = time.monotonic()
child = subprocess.run(sys.argv[2:], check=False)
print("ended", child.returncode, flush=True)
# The session lives: another command runs as ever.
print(subprocess.run(["sh", "-c", "echo after"], check=False, capture_output=True, text=True).stdout.strip(), flush=True)
while time.monotonic() - started < float(sys.argv[1]):
    time.sleep(0.1)
