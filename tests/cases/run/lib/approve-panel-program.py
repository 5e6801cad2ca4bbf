# SPDX-License-Identifier: Apache-2.0
"""Runs inside: a program with the whole screen, which does what the files do-N say, one after the
other, and writes down what is typed (file `got`). A file begins with a letter:

    w TEXT   writes it to the terminal          o NAME  opens .github/NAME to append, in a child
    t TEXT   types it into its own terminal     m N     makes N directories in .github
    q        ends
"""
import fcntl
import os
import select
import sys
import termios
import tty

saved = termios.tcgetattr(0)
tty.setraw(0)
got = open("got", "ab", buffering=0)
open("up", "w", encoding="ascii").close()


def append(name):
    if os.fork():
        return
    try:
        with open(".github/" + name, "a", encoding="ascii") as f:
            f.write("x\n")
        text = "ok"
    except OSError as e:
        text = str(e.errno)
    with open("part-" + name, "w", encoding="ascii") as f:
        f.write(text)
    os.rename("part-" + name, "result-" + name)
    os._exit(0)


def type_it(data):
    for byte in data:
        try:
            fcntl.ioctl(0, termios.TIOCSTI, bytes([byte]))
        except OSError:
            return


n = 0
while True:
    if select.select([0], [], [], 0.01)[0]:
        got.write(os.read(0, 4096))
    if not os.path.exists(f"do-{n}"):
        continue
    with open(f"do-{n}", "rb") as f:
        what = f.read()
    what, text = what[:1], what[2:]
    if what == b"q":
        break
    if what == b"w":
        while text:
            text = text[os.write(1, text):]
    elif what == b"o":
        append(text.decode())
    elif what == b"t":
        type_it(text)
    elif what == b"m":
        for i in range(int(text)):
            try:
                os.mkdir(f".github/flood{i}:")  # no plain name: each is a question
            except OSError:
                pass
    open(f"done-{n}", "w", encoding="ascii").close()
    n += 1
termios.tcsetattr(0, termios.TCSADRAIN, saved)
sys.exit(0)
