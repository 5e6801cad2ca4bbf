# SPDX-License-Identifier: Apache-2.0
"""Part of ../answers.sh: runs a copy of sleep(1) and says what the memory of its process answers to
the user who started it."""
import os
import subprocess
import sys

try:
    with subprocess.Popen([sys.argv[1], "60"]) as child:
        try:
            os.close(os.open(f"/proc/{child.pid}/mem", os.O_RDONLY))
            print("opened")
        except OSError as e:
            print(e.strerror)
        child.kill()
except OSError as e:
    print("not executed:", e.strerror)
