# SPDX-License-Identifier: Apache-2.0
# Part of ../docker-runsc.sh: fill.py MEGABYTES PLACE...: makes a file of that size in each place,
# and prints each place with the megabytes that fitted.
import os
import sys

block = b"x" * (1 << 20)
for place in sys.argv[2:]:
    written = 0
    try:
        with open(os.path.join(place, "filled"), "wb", buffering=0) as f:
            while written < int(sys.argv[1]) and f.write(block) == len(block):
                written += 1
    except OSError:
        pass
    print(place, written)
