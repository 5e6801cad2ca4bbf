#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A terminal, or a pipe, that takes what the command writes and is not read any more (a connection that hangs,
# Ctrl-S): the clock ends the session all the same, and what runs in its background.
. "$WARD_SRC/tests/cases/lib.sh"
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 3s\ngrace = 1s\n' >wall.policy
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 3s\ngrace = 1s\nidle = 10m\n' >idle.policy
cat >stalled.py <<'P'
import os, pty, subprocess, sys, time

WARDFS, LIMIT = os.environ["WARDFS"], 60
# Works in the background, starting nothing, and fills what its output goes to.
COMMAND = ["/usr/bin/python3", "-c", """import os, sys, time
if os.fork() == 0:
    os.setsid()
    for i in range(4000):
        with open("/workspace/log", "a") as f:
            f.write("on\\n")
        time.sleep(0.05)
    os._exit(0)
while True:
    os.write(1, b"y\\n" * 4096)
"""]


def lines():
    try:
        with open("log", encoding="ascii") as f:
            return len(f.readlines())
    except FileNotFoundError:
        return 0


def ends(what, read):
    """The work goes on, and then not any more: nothing of the supervisor's own is waited for."""
    end = time.monotonic() + LIMIT
    while lines() < 3:
        if time.monotonic() > end:
            sys.exit(f"FAIL: {what}: nothing worked")
        time.sleep(0.05)
    seen, still = -1, 0
    while still < 20:
        read()
        still = still + 1 if lines() == seen else 0
        seen = lines()
        if time.monotonic() > end:
            sys.exit(f"FAIL: {what}: the clock did not end it")
        time.sleep(0.1)
    os.unlink("log")


def reads(fd):
    os.set_blocking(fd, False)

    def read():
        try:
            while os.read(fd, 65536):
                pass
        except OSError:
            pass
    return read


for policy in ("wall.policy", "idle.policy"):
    run = [WARDFS, "run", "--policy", policy, "--"] + COMMAND
    for read_too in (True, False):
        pid, fd = pty.fork()
        if pid == 0:
            os.execvp(run[0], run)
        ends(f"terminal, {policy}, read: {read_too}", reads(fd) if read_too else lambda: None)
        # What it says last it may say to somebody.
        drain, end = reads(fd), time.monotonic() + LIMIT
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            drain()
            if time.monotonic() > end:
                sys.exit("FAIL: the supervisor does not end")
            time.sleep(0.05)
        os.close(fd)
        r, w = os.pipe()
        with subprocess.Popen(run, stdin=subprocess.DEVNULL, stdout=w, stderr=subprocess.DEVNULL) as p:
            os.close(w)
            ends(f"pipe, {policy}, read: {read_too}", reads(r) if read_too else lambda: None)
            if p.wait(LIMIT) != 124:
                sys.exit(f"FAIL: exit {p.returncode}")
        os.close(r)
P
exec /usr/bin/python3 stalled.py
