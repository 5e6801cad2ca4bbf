# SPDX-License-Identifier: Apache-2.0
"""What a session of review does to make its changes long: deep LEVELS FILES, names."""

import errno
import os
import sys

what = sys.argv[1]
if what == "deep":
    levels, files = int(sys.argv[2]), int(sys.argv[3])
    name = "d" * 250
    for _ in range(levels):
        os.mkdir(name)
        os.chdir(name)
    for i in range(files):
        os.close(os.open("f%d" % i, os.O_CREAT | os.O_WRONLY))
elif what == "names":
    # Each byte of such a name has three in the journal.
    a, b = b"\x01" * 255, b"\x02" * 255
    os.close(os.open(a, os.O_CREAT | os.O_WRONLY))
    limit = int(sys.argv[2])
    for i in range(limit):
        try:
            os.rename(a, b)
        except OSError as e:
            if e.errno != errno.EDQUOT:
                raise
            print("EDQUOT")
            # What is staged can still be read and written.
            with open(a, "w", encoding="ascii") as f:
                f.write("written")
            break
        a, b = b, a
    else:
        print("renamed", limit, "times")
