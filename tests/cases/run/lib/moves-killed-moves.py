# SPDX-License-Identifier: Apache-2.0
"""Moves a directory between two names for as long as it lives."""
import os
n = 0
while True:
    try:
        os.rename("d%d" % (n % 2), "d%d" % ((n + 1) % 2))
        n += 1
    except OSError:
        pass
