#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A question while the command has the terminal: its screen stays its own, the title tells."""
import json
import os
import re
import subprocess
import sys
import time

from user_terminal import WARDFS, Terminal

KEEP, BACK = rb"\033\[22;2t", rb"\033\[23;2t"
TITLE = rb"\033\]2;wardfs: a question waits: Ctrl-\] shows it\033\\\x07"


def question(session):
    """The name of its question, once there is one."""
    for _ in range(600):
        out = subprocess.run([WARDFS, "approve", "--json", "--session", session],
                             capture_output=True, check=False).stdout
        found = json.loads(out or b"[]")
        if found:
            return found[0]["question"]
        time.sleep(0.1)
    sys.exit("FAIL: no question in " + session)


def run(t, session, script):
    with open("screen.sh", "w", encoding="ascii") as f:
        f.write(script)
    t.send(f"export TERM=xterm; {WARDFS} run --session {session} --policy ../ask.policy -- sh screen.sh\n")


t = Terminal(24, 80)

# What the command shows is whole, before and behind the title.
run(t, "shown", "printf 'FIRST'; echo x >>.github/workflows/ci && printf 'SECOND\\n'\n")
m = t.wait("FIRST((?:" + KEEP.decode() + ")?.*?)" + TITLE.decode())
if not re.fullmatch(KEEP, m.group(1)):
    sys.exit(f"FAIL: before the title: {m.group(1)!r}")
name = question("shown")
subprocess.run([WARDFS, "approve", name, "once"], check=True, capture_output=True)
m = t.wait(r"((?s:.*))READY> $")
if not re.search(BACK, m.group(1)) or b"SECOND" not in m.group(1):
    sys.exit(f"FAIL: the title is not put back: {m.group(1)!r}")
if b"asks for" in m.group(1):
    sys.exit(f"FAIL: a line on the command's screen: {m.group(1)!r}")

# A control sequence that the command leaves open is not completed by the title: it is cut.
run(t, "open", "printf 'THIRD\\033]2;its own'; echo x >>.github/workflows/ci; printf 'x\\007LAST\\n'\n")
m = t.wait("THIRD\\033\\]2;its own(.*?)" + TITLE.decode())
if not re.fullmatch(rb"\030" + KEEP, m.group(1)):
    sys.exit(f"FAIL: the open sequence is not cut: {m.group(1)!r}")
subprocess.run([WARDFS, "approve", question("open"), "no"], check=True, capture_output=True)
m = t.wait(r"((?s:.*))READY> $")
if not re.search(BACK, m.group(1)):
    sys.exit(f"FAIL: the title is not put back: {m.group(1)!r}")

# Standard error elsewhere has the line as well.
with open("screen.sh", "w", encoding="ascii") as f:
    f.write("echo x >>.github/workflows/ci\n")
t.send(f"{WARDFS} run --session apart --policy ../ask.policy -- sh screen.sh 2>../apart.err\n")
name = question("apart")
t.wait(TITLE.decode())
subprocess.run([WARDFS, "approve", name, "no"], check=True, capture_output=True)
t.wait(r"READY> $")
with open("../apart.err", encoding="utf-8") as f:
    text = f.read()
if f"wardfs: question {name}: " not in text:
    sys.exit(f"FAIL: no line: {text}")
os.unlink("screen.sh")
print("ok")
