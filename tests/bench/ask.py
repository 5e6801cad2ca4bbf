#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ask.py BUILD DIR: how soon a question is on a screen, and how soon its answer acts.

A command opens files that the policy asks about, one after the other, and notes when it began and
when it went on. Prints lines "NAME VALUE", in milliseconds, the median over all of them:

  watch    from the open to the question in `wardfs approve --watch`
  panel    from the open to the question in `wardfs approve --panel`, on a terminal
  approve  from the start of `wardfs approve QUESTION once` until the command goes on
  key      from Enter in the panel until the command goes on
"""
import json
import os
import pty
import select
import shutil
import statistics
import subprocess
import sys
import time

QUESTIONS = 15
# In the first half second of a question no key counts (docs/approvals.md).
GRACE = 0.7
SESSION = f"bench-ask-{os.getpid()}"
LIMIT = 60

COMMAND = """
import os, time
for n in range(%d):
    while not os.path.exists(f"go-{n}"):
        time.sleep(0.005)
    began = time.monotonic()
    os.close(os.open(f"asked/{n}", os.O_WRONLY))
    with open("part", "w") as f:
        f.write(f"{began} {time.monotonic()}")
    os.rename("part", f"done-{n}")
"""
POLICY = "[policy]\nversion = 1\n[files]\nwrite = /workspace\nask = asked\n[approvals]\ntimeout = 10m\n"


def until(fd, wanted):
    """What fd says up to these bytes, and when they were there."""
    seen, end = b"", time.monotonic() + LIMIT
    while wanted not in seen:
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"ask.py: never said {wanted!r}, but {seen[-500:]!r}")
        seen += os.read(fd, 65536)
    return seen, time.monotonic()


def done(project, n):
    name = os.path.join(project, f"done-{n}")
    end = time.monotonic() + LIMIT
    while not os.path.exists(name):
        if time.monotonic() > end:
            sys.exit("ask.py: the answer does not act")
        time.sleep(0.005)
    with open(name, encoding="ascii") as f:
        return [float(t) for t in f.read().split()]


def go(project, n):
    with open(os.path.join(project, f"go-{n}"), "w", encoding="ascii"):
        pass


def by_watch(wardfs, project, numbers, watch, times):
    for n in numbers:
        go(project, n)
        line, shown = until(watch, b"\n")
        began = time.monotonic()
        subprocess.run([wardfs, "approve", json.loads(line)["question"], "once"], check=True,
                       stderr=subprocess.DEVNULL)
        opened, went_on = done(project, n)
        times.setdefault("watch", []).append(shown - opened)
        times.setdefault("approve", []).append(went_on - began)


def by_panel(wardfs, project, numbers, times):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(wardfs, [wardfs, "approve", "--panel", "--session", SESSION])
    until(fd, b"wardfs asks you")
    for n in numbers:
        go(project, n)
        _, shown = until(fd, f"/workspace/asked/{n}".encode())
        time.sleep(GRACE)
        os.write(fd, b"o")
        time.sleep(0.1)
        began = time.monotonic()
        os.write(fd, b"\r")
        opened, went_on = done(project, n)
        times.setdefault("panel", []).append(shown - opened)
        times.setdefault("key", []).append(went_on - began)
    os.write(fd, b"q")
    while select.select([fd], [], [], LIMIT)[0]:
        try:
            os.read(fd, 65536)
        except OSError:
            break
    os.waitpid(pid, 0)


def main():
    build, where = sys.argv[1:]
    wardfs, project = os.path.abspath(f"{build}/wardfs"), os.path.join(where, "asking")
    shutil.rmtree(project, ignore_errors=True)
    os.makedirs(os.path.join(project, "asked"))
    for n in range(2 * QUESTIONS):
        with open(os.path.join(project, "asked", str(n)), "w", encoding="ascii"):
            pass
    policy = os.path.join(where, "asking.policy")
    with open(policy, "w", encoding="ascii") as f:
        f.write(POLICY)
    times = {}
    with subprocess.Popen([wardfs, "approve", "--watch", "--json", "--session", SESSION], stdout=subprocess.PIPE) as watch:
        with subprocess.Popen([wardfs, "run", "--session", SESSION, "--policy", policy, "--", "/usr/bin/python3", "-c",
                               COMMAND % (2 * QUESTIONS)], cwd=project, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            by_watch(wardfs, project, range(QUESTIONS), watch.stdout.fileno(), times)
            by_panel(wardfs, project, range(QUESTIONS, 2 * QUESTIONS), times)
            run.wait()
        watch.terminate()
    for name, values in times.items():
        print(name, 1000 * statistics.median(values))
    shutil.rmtree(project)


main()
