# SPDX-License-Identifier: Apache-2.0
"""Runs inside: a program at a terminal that draws, asks, and writes down what is typed (file `got`).

It does what the files do-N say, one after the other: each is written to the terminal as it is.
"""
import os
import select
import sys
import termios
import tty

saved = termios.tcgetattr(0)
tty.setraw(0)
got = open("got", "ab", buffering=0)
open("up", "w", encoding="ascii").close()
n = 0
while True:
    if select.select([0], [], [], 0.02)[0]:
        data = os.read(0, 4096)
        if not data or b"Q" in data:
            break
        got.write(data)
    if os.path.exists(f"do-{n}"):
        with open(f"do-{n}", "rb") as f:
            text = f.read()
        while text:
            text = text[os.write(1, text):]
        open(f"done-{n}", "w", encoding="ascii").close()
        n += 1
termios.tcsetattr(0, termios.TCSADRAIN, saved)
sys.exit(0)
