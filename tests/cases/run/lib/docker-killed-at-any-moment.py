# SPDX-License-Identifier: Apache-2.0
"""Starts sessions under an engine and kills one of their processes at a random moment.

usage: WARDFS ROUNDS ENGINE...
"""
import glob
import os
import random
import signal
import subprocess
import sys
import time

wardfs, rounds, engines = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
random.seed(os.getpid())


def processes():
    """pid: (parent, when it started, name)"""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(path, encoding="utf-8", errors="replace").read()
        except OSError:
            continue
        head, tail = text.rsplit(")", 1)
        fields = tail.split()
        if fields[0] == "Z":
            continue  # it is over; who reaps it is the test's business
        found[int(head.split()[0])] = (int(fields[1]), fields[19], head.split("(", 1)[1])
    return found


def family(root):
    """root and all that descends from it."""
    table = processes()
    members = {root} & set(table)
    grown = True
    while grown:
        more = {p for p, (parent, _, _) in table.items() if parent in members} - members
        grown = bool(more)
        members |= more
    return {(p, table[p][1]): table[p][2] for p in members}


def alive(ids):
    table = processes()
    return [(p, table[p][2]) for p, start in ids if p in table and table[p][1] == start]


def told(pid):
    """What a process that was left waits for."""
    lines = []
    for what in ("status", "wchan", "stack"):
        try:
            text = open(f"/proc/{pid}/{what}", encoding="utf-8", errors="replace").read()
        except OSError as e:
            text = str(e)
        lines.append(" ".join(line for line in text.splitlines()
                              if what != "status" or line.startswith(("State", "NSpid", "PPid"))))
    return "; ".join(lines)


def groups(name):
    return [d for top in glob.glob("/sys/fs/cgroup/*") + ["/sys/fs/cgroup"]
            for d in glob.glob(f"{top}/wardfs/{name}")]


killed = {}
for i in range(rounds):
    name = f"killed-{os.getpid()}-{i}"
    engine = engines[i % len(engines)]
    run = subprocess.Popen([wardfs, "run", "--engine", engine, "--session", name, "--",
                            "sleep", "600"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    seen = {}
    until = time.monotonic() + random.random() * (3.0 if engine in ("runsc", "docker") else 1.2)
    while time.monotonic() < until:
        seen.update(family(run.pid))
        time.sleep(0.02)
    now = family(run.pid)
    seen.update(now)
    if now:
        (pid, start), what = random.choice(sorted(now.items()))
        if alive([(pid, start)]):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            killed[what] = killed.get(what, 0) + 1
    # One of a session's helpers in the sandbox may go without an end of all: the starter.
    deadline = time.monotonic() + 5
    while run.poll() is None and time.monotonic() < deadline:
        seen.update(family(run.pid))
        time.sleep(0.05)
    if run.poll() is None:
        subprocess.run([wardfs, "kill", name], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        run.wait(60)
    deadline = time.monotonic() + 60
    while (alive(seen) or groups(name)) and time.monotonic() < deadline:
        # The groups of a session whose supervisor was killed go with the next one's start.
        if not alive(seen):
            subprocess.run([wardfs, "run", "--engine", "runc", "--", "true"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        time.sleep(0.05)
    if alive(seen) or groups(name):
        print(f"round {i} ({engine}): killed {what if now else None}, left: {groups(name)}")
        for pid, name in alive(seen):
            print(pid, name, told(pid))
        sys.exit(1)
print("nothing left; killed:", killed)
