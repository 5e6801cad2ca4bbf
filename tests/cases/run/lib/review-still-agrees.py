# SPDX-License-Identifier: Apache-2.0
"""agrees.py FILE: do the counters of counts.py agree? 9: they do not."""
import struct
import sys

f = open(sys.argv[1], "rb")
first, = struct.unpack("Q", f.read(8))
f.seek(-8, 2)
last, = struct.unpack("Q", f.read(8))
print(first, last)
sys.exit(0 if last > 0 and first - last in (0, 1) else 9)
