#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""power-cut-answered.py DEVICE SLOT: keeps the last line of stdin in a sector of the disk.

A line is on the disk before the next one is read, so the sector has nothing that was not answered.
"""
import os
import sys

SECTOR = 512
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_DSYNC | os.O_CLOEXEC)
rest = b""
while True:
    data = os.read(0, 65536)
    if not data:
        break
    *lines, rest = (rest + data).split(b"\n")
    if lines:
        os.pwrite(fd, (lines[-1] + b"\n").ljust(SECTOR, b"\0"), int(sys.argv[2]) * SECTOR)
