# SPDX-License-Identifier: Apache-2.0
"""joined-sums.py: asks for f in directories below src, two and two of which have names with one sum.

The two names collide under FNV-1a of 64 bits behind whatever leaves 0 in the lowest byte. What a
beginning of two letters leaves there depends on the lowest byte before it alone, so for each of its
256 values there is a beginning. Last it asks for two names in one directory, which join.
"""
import os
import string
import time

PRIME = 1099511628211
NAMES = ("iIW6oLCx0iP", "Who6eTPv14L")


def fnv(sum_, text):
    for c in text.encode():
        sum_ = (sum_ ^ c) * PRIME % 2**64
    return sum_


def beginning(low):
    for x in string.ascii_letters:
        for y in string.ascii_letters + string.digits:
            if fnv(low, x + y) & 255 == 0:
                return x + y
    raise AssertionError(low)


def ask(directory, name):
    os.makedirs(directory, exist_ok=True)
    try:
        os.mkdir(f"{directory}/{name}")
    except PermissionError:
        return
    raise AssertionError(name)


for s in (0, 1 << 60, 1 << 8):
    assert fnv(s, NAMES[0]) == fnv(s, NAMES[1])
for b in {beginning(low) for low in range(256)}:
    for n in NAMES:
        ask(f"src/{b}{n}", "f")
# A question that finds no room on its way to the supervisor is none, until it is asked again.
for _ in range(50):
    ask("src/one", "f")
    ask("src/one", "f2")
    time.sleep(0.1)
print("asked", flush=True)
