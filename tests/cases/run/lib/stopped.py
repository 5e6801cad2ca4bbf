# SPDX-License-Identifier: Apache-2.0
"""The same in a shell with job control: see stopped.sh."""
import os
import re
import subprocess
import sys
import time

from user_terminal import LIMIT, WARDFS, Terminal


def until(what, happened):
    end = time.monotonic() + LIMIT
    while not happened():
        if time.monotonic() > end:
            sys.exit(f"FAIL: never: {what}")
        time.sleep(0.05)


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def pid_of(session):
    said = subprocess.run([WARDFS, "ps"], check=True, capture_output=True, text=True).stdout
    return int(re.search(rf"^{session} +(\d+)", said, re.M).group(1))


def lines():
    try:
        with open("log", encoding="ascii") as f:
            return len(f.readlines())
    except FileNotFoundError:
        return 0


t = Terminal(24, 80)
# The shell has its prompt again, the supervisor is stopped; the clock ends the session all the
# same.
t.send(f"{WARDFS} run --policy wall.policy -- /usr/bin/python3 work.py stop\n")
t.wait(r"Stopped")
t.wait(r"the wall clock of 20s ended the session")
t.send("wait %1; echo status $?\n")
t.wait(r"status 124\r")
t.wait(r"READY> $")
os.unlink("log")

# Stopped, and really: then asked something, it answers, while its command stays as it is; fg goes
# on with that.
t.send(f"{WARDFS} run --session asked -- /usr/bin/python3 work.py stop; echo status $?\n")
t.wait(r"Stopped")
until("the child works", lambda: lines() > 3)
t.send("\n")
t.wait(r"READY> $")
t.send("echo pid $(jobs -p)\n")
pid = int(t.wait(r"^pid (\d+)\r").group(1))
t.wait(r"READY> $")
until("the supervisor is stopped", lambda: state(pid) == "T")
if pid_of("asked") != pid:
    sys.exit("FAIL: another session answered")
inside = "cat /proc/[0-9]*/stat | grep -c ' T '"


def stopped_inside():
    return subprocess.run([WARDFS, "exec", "asked", "--", "sh", "-c", inside], capture_output=True, text=True,
                          check=False).stdout.strip()


until("one is stopped inside", lambda: stopped_inside() == "1")
t.send("fg\n")
t.wait(r"work\.py")
until("the command goes on", lambda: stopped_inside() == "0")
subprocess.run([WARDFS, "kill", "asked"], check=True)
t.wait(r"READY> $")
t.send("exit\n")
os.waitpid(t.pid, 0)
