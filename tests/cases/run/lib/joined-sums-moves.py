# SPDX-License-Identifier: Apache-2.0
"""joined-sums-moves.py: as joined-sums.py, of renames into these directories, and out of them.

With `make` it makes them, where nothing is asked.
"""
import os
import re
import sys
import time

with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "joined-sums.py"), encoding="utf-8") as f:
    sums = {}
    # Its functions, without what it asks for.
    exec(re.split(r"(?m)^for s in", f.read())[0], sums)  # pylint: disable=exec-used
DIRECTORIES = [b + n for b in sorted({sums["beginning"](low) for low in range(256)}) for n in sums["NAMES"]]


def move(old, new):
    try:
        os.rename(old, new)
    except PermissionError:
        return
    raise AssertionError((old, new))


if sys.argv[1:] == ["make"]:
    for d in DIRECTORIES + ["one", "two"]:
        os.makedirs(f"src/{d}")
        for name in ["fa", "fb"] + [f"fs{i}" for i in range(len(DIRECTORIES)) if d == "one"]:
            with open(f"src/{d}/{name}", "x", encoding="ascii"):
                pass
    sys.exit()
for i, d in enumerate(DIRECTORIES):
    # No name twice, which would keep it from joining.
    move(f"src/one/fs{i}", f"src/{d}/f{i}")
    move(f"src/{d}/fa", f"src/one/f{i}")
# As there: what found no room is asked again.
for _ in range(50):
    move("src/one/fa", "src/two/f1")
    move("src/one/fb", "src/two/f2")
    time.sleep(0.1)
print("moved", flush=True)
