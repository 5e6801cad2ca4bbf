#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The line of progress, as a user at a terminal sees it: see user_terminal.py."""
from user_terminal import WARDFS, Terminal

t = Terminal(24, 100)


def slow(calls, microseconds, command):
    """Each of these system calls takes so long."""
    t.send(f"strace -f -o /dev/null -e trace={calls} -e inject={calls}:delay_enter={microseconds} "
           f"{WARDFS} {command}; echo status $?\n")


def gone_again(what, times):
    """A line that counts, others in its place, and none at the end."""
    for _ in range(times):
        t.wait(rf"\r\x1b\[Kwardfs: {what}")
    t.wait(r"\r\x1b\[K(\d+ sessions|cleared)")
    t.wait(r"READY> $")


# The index tells of each thousand records, of which a read gets more than two; a home of each 256
# names.
slow("pread64", 500000, "audit index --rebuild")
gone_again(r"indexing trails: \d+ records", 1)
slow("unlinkat", 5000, "home clear")
gone_again(r"clearing a home: \d+ names", 2)


def among_lines(what):
    """The same, and it makes way for the lines of the answer."""
    t.wait(rf"\r\x1b\[Kwardfs: {what}")
    t.wait(r"\r\x1b\[K(/workspace/|status 1)")
    t.wait(r"READY> $")


# Of policies by what they name: it has that many lines to write. Of a tree by the names in it.
slow("write", 20000, "policy diff medium ../many.policy")
among_lines(r"comparing: \d+ steps")
slow("newfstatat", 20000, "policy diff --tree ../names medium ../many.policy")
among_lines(r"comparing: \d+ names")
