#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the disk with a file, and then with small ones, until each is refused: says how.

When there is the file go, it waits until it can write again.
"""
import errno
import os
import time


def until_refused(function):
    try:
        while True:
            function()
    except OSError as e:
        return errno.errorcode[e.errno]


filler = os.open("filler", os.O_WRONLY | os.O_CREAT)
print(until_refused(lambda: os.write(filler, bytes(1 << 16))), flush=True)
print(until_refused(lambda: os.write(filler, bytes(1 << 9))), flush=True)
try:
    os.close(filler)
except OSError:
    pass  # it is closed: what failed was the record
number = iter(range(100000))
print(until_refused(lambda: os.close(os.open(f"small{next(number)}", os.O_WRONLY | os.O_CREAT))), flush=True)


while not os.path.exists("go"):
    time.sleep(0.1)
while True:
    try:
        with open("again", "w") as f:
            f.write("room\n")
        break
    except OSError:
        time.sleep(0.1)
