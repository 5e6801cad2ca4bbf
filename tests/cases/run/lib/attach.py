#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wardfs attach, with several users at terminals of their own: see user_terminal.py."""
import json
import os
import subprocess
import sys

from user_terminal import WARDFS, Terminal

AWAY = "\x1d\x1d"
# A shell that edits no lines: what is typed shows as the terminal has it.
RUN = f"{WARDFS} run -e 'PS1=in> '"


def running():
    out = subprocess.run([WARDFS, "ps", "--json"], check=True, capture_output=True).stdout
    return [s["session"] for s in json.loads(out)]


def cooked(t):
    t.send("stty -a | tr ' ' '\\n' | grep -x icanon\n")
    t.wait(r"^icanon\r")
    t.wait(r"READY> $")


one = Terminal(30, 90)
two = Terminal(40, 100)

# Two at one terminal: what was there, what comes, the window, keys of both.
one.send(f"{RUN} --session both -- sh -i\n")
one.wait(r"in> $")
one.send("echo be''fore\n")
one.wait(r"before\r")
# What is drawn ends a line where another one follows.
one.wait(r"in> $")
two.send(f"{WARDFS} attach both\n")
two.wait(r"before\r")
two.send("stty size; echo fr''om-two\n")
two.wait(r"40 100\r")
two.wait(r"from-two\r")
one.wait(r"from-two\r")
one.send("echo fr''om-one\n")
two.wait(r"from-one\r")
two.size(41, 101)
two.send("\n")
two.wait(r"in> $")
two.send("stty size\n")
two.wait(r"41 101\r")
# Once is a key like others; twice leaves, and everything is as before.
two.send("echo u''p; (exec cat -v)\n")
two.wait(r"up\r")
two.send("a\x1db\n")
two.wait(r"a\^\]b\r\na\^\]b\r\n")
two.send("\x1d")
two.wait(r"\^\]")
two.send("\n")
two.wait(r"\^\]\r\n")
two.send("\x03")
two.wait(r"in> $")
one.wait(r"a\^\]b\r")
two.send(AWAY)
two.wait(r"detached")
two.wait(r"READY> $")
two.send("echo status $?\n")
two.wait(r"status 0\r")
two.wait(r"READY> $")
cooked(two)
one.send("stty size\n")
one.wait(r"30 90\r")
one.wait(r"in> $")
# Somebody who watches: sees, and what they type goes nowhere.
two.send(f"{WARDFS} attach --watch both\n")
two.wait(r"30 90\r")
two.send("echo wa''tcher\n")
one.send("echo af''ter; stty size\n")
two.wait(r"after\r")
two.wait(r"30 90\r")
if b"watcher" in one.seen or b"watcher" in two.seen:
    sys.exit("FAIL: a watcher typed")
# The command's end is everybody's, with its status; without --keep the keys leave nobody.
one.send("echo u''p; (exec cat -v)\n")
one.wait(r"up\r")
# The program is in the foreground when it answers: before, a ^C would be the shell's.
one.send("y\n")
one.wait(r"y\r\ny\r")
one.send(AWAY + "\n")
one.wait(r"\^\]\^\]\r")
one.send("\x03")
one.wait(r"in> $")
one.send("exit 5\n")
for t in (one, two):
    t.wait(r"READY> $")
    t.send("echo status $?\n")
    t.wait(r"status 5\r")
    t.wait(r"READY> $")
    cooked(t)

# --keep: whoever started it leaves, the command goes on, another one joins and ends it.
one.send(f"{RUN} --keep --session kept -- sh -i\n")
one.wait(r"in> $")
one.send("touch le''ft; while [ -e left ]; do sleep 0.1; done; echo wi''thout-us\n")
one.wait(r"touch")
one.send(AWAY)
one.wait(r"detached")
one.wait(r"READY> $")
one.send("echo status $?\n")
one.wait(r"status 0\r")
one.wait(r"READY> $")
cooked(one)
if "kept" not in running():
    sys.exit("FAIL: the session did not go on")
# More than a pty holds is written while nobody looks: the command does not wait for anybody.
subprocess.run([WARDFS, "exec", "kept", "--", "sh", "-c", "while [ ! -e left ]; do sleep 0.1; done"], check=True)
os.unlink("left")
two.send(f"{WARDFS} attach kept\n")
two.wait(r"without-us\r")
two.wait(r"in> ")
two.send("(seq 1 20000; touch don''e)\n")
two.wait(r"7\r")
two.send(AWAY)
two.wait(r"READY> $")
subprocess.run([WARDFS, "exec", "kept", "--", "sh", "-c", "while [ ! -e done ]; do sleep 0.1; done"], check=True)
two.send(f"{WARDFS} attach kept\n")
two.wait(r"20000\r")
two.send("exit 3\n")
two.wait(r"READY> $")
two.send("echo status $?\n")
two.wait(r"status 3\r")
two.wait(r"READY> $")
# Its command is over, the session is not.
one.send(f"{WARDFS} attach kept; echo status $?\n")
one.wait(r"the session's command has ended")
one.wait(r"status 125\r")
one.wait(r"READY> $")
subprocess.run([WARDFS, "kill", "kept"], check=True)

one.send(f"{WARDFS} attach kept-not; echo status $?\n")
one.wait(r"no session 'kept-not'")
one.wait(r"status 2\r")
for t in (one, two):
    t.send("exit\n")
    os.waitpid(t.pid, 0)
