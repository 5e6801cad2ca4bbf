# SPDX-License-Identifier: Apache-2.0
"""joined.py NAME...: makes each file until all are there, or stop is; prints what it made."""
import os
import sys
import time

left = sys.argv[1:]
while left and not os.path.exists("stop"):
    for name in list(left):
        try:
            with open(name, "x", encoding="ascii") as f:
                f.write("new")
        except PermissionError:
            continue
        left.remove(name)
        print("made", name, flush=True)
    open("tried", "w", encoding="ascii").close()
    time.sleep(0.2)
sys.exit(1 if left else 0)
