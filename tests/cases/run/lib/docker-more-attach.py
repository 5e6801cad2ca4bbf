#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wardfs attach to a command in a container of the engine that is given: see user_terminal.py."""
import sys

from user_terminal import WARDFS, Terminal

one = Terminal(30, 90)
two = Terminal(40, 100)
one.send(f"{WARDFS} run --engine {sys.argv[1]} -e 'PS1=in> ' --session seen -- sh -i\n")
one.wait(r"in> $")
two.send(f"{WARDFS} attach seen\n")
two.wait(r"in> ")
two.send("grep Seccomp_f /proc/self/status; echo fr''om-two\n")
two.wait(r"Seccomp_filters:\t3\r")
two.wait(r"from-two\r")
one.wait(r"from-two\r")
one.wait(r"in> $")
# Twice the key leaves; the command goes on.
two.send("\x1d\x1d")
two.wait(r"detached")
two.wait(r"READY> $")
one.send("echo st''ays\n")
one.wait(r"stays\r")
one.wait(r"in> $")
one.send("exit 5\n")
one.wait(r"READY> $")
one.send("echo status $?\n")
one.wait(r"status 5\r")
