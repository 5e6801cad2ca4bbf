# SPDX-License-Identifier: Apache-2.0
"""attack-room.py: asks for eight names in each of ten directories; when `go` is there, once more. Prints
for each directory how many it could make."""
import os
import time


def make(directory):
    made = 0
    for n in range(8):
        try:
            os.mkdir(f".github/{directory}/f{n}")
            made += 1
        except PermissionError:
            pass
    return made


assert not any(make(d) for d in range(10))
print("asked", flush=True)
while not os.path.exists("go"):
    time.sleep(0.05)
for d in range(10):
    print("made", d, make(d), flush=True)
