#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills one process at a time: OCI RUNTIME-ROOT BUNDLE CGROUP. Every number comes from this run."""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import time

OCI, ROOT, BUNDLE, CGROUP = sys.argv[1:]
WARDFS = os.environ["WARDFS"]
PLACES = "/run/wardfs/oci"
# Ends a wait that would never end.
LIMIT = 120.0
# A round kills one process. By default as many as take 40 s on a busy machine.
ROUNDS = 500 if os.environ.get("WARD_LONG") else 12


def oci(*args, check=False):
    # A container keeps what it is given: of those that make one no pipe leads here.
    made = args[0] in ("create", "start")
    out = subprocess.DEVNULL if made else subprocess.PIPE
    done = subprocess.run([OCI, "--root", ROOT, *args], stdin=subprocess.DEVNULL, stdout=out,
                          stderr=out, text=True, timeout=LIMIT)
    if check and done.returncode:
        sys.exit(f"FAIL: {args}: {done.stderr}")
    return done


def until(what, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"FAIL: never: {what}: {left()} {os.listdir(PLACES)}")
        time.sleep(0.05)


def parents():
    """{pid: (parent, command line)} of what is alive."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = open(f"/proc/{pid}/stat", encoding="latin-1").read()
            line = open(f"/proc/{pid}/cmdline", encoding="latin-1").read()
        except OSError:
            continue
        state, parent = stat[stat.rindex(")") + 2:].split()[:2]
        if state != "Z":
            found[int(pid)] = int(parent), line
    return found


def below(top):
    """top and all processes that descend from it."""
    table, found = parents(), [top]
    for pid in found:
        found += [p for p, (parent, _) in table.items() if parent == pid and p not in found]
    return [p for p in found if p in table]


seen = set()


def left():
    """What is still there of this test's containers."""
    table = parents()
    here = [(pid, table[pid][1]) for pid in table if pid != os.getpid()
            and (ROOT in table[pid][1] or pid in seen and "wardfs" in table[pid][1])]
    groups = subprocess.run(["find", "/sys/fs/cgroup", "-type", "d", "-name", CGROUP],
                            capture_output=True, text=True).stdout.split()
    mounts = [line for line in open("/proc/self/mounts", encoding="utf-8") if PLACES in line]
    states = os.listdir(ROOT) if os.path.isdir(ROOT) else []
    places = os.listdir(PLACES) if os.path.isdir(PLACES) else []
    return [*here, *groups, *mounts, *states, *places]


def nothing_left():
    oci("delete", "--force", "box")
    return not left()


# {stage: {program: how often it was killed}}
killed = collections.defaultdict(collections.Counter)


def kill(stage, pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="latin-1") as f:
            name = f.read().strip()
        os.kill(pid, signal.SIGKILL)
        killed[stage][name] += 1
    except (FileNotFoundError, ProcessLookupError):
        pass


def create():
    return subprocess.Popen([OCI, "--root", ROOT, "create", "--bundle", BUNDLE, "box"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def while_it_is(what, start, took):
    """Kills whatever is there at some moment of it."""
    for turn in range(ROUNDS):
        process = start()
        time.sleep(random.random() * took)
        there = below(process.pid)
        seen.update(there)
        if there:
            kill(what, there[turn % len(there)])
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            sys.exit(f"FAIL: {what} hangs: {[parents().get(p) for p in there]}")
        until(f"nothing left of {what}, round {turn}", nothing_left)


def started():
    oci("create", "--bundle", BUNDLE, "box", check=True)
    oci("start", "box", check=True)
    (session,) = [s for s in json.loads(subprocess.run(
        [WARDFS, "ps", "--json"], check=True, capture_output=True).stdout) if s["verb"] == "oci"]
    seen.update(below(session["pid"]))
    return session


def state():
    done = oci("state", "box")
    return json.loads(done.stdout)["status"] if done.returncode == 0 else "gone"


begin = time.monotonic()
subprocess.run([OCI, "--root", ROOT, "create", "--bundle", BUNDLE, "box"], check=True,
               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
TOOK = time.monotonic() - begin
oci("delete", "--force", "box", check=True)
until("nothing left of the control", lambda: not left())

while_it_is("create", create, TOOK)

# While it runs: each process of the session, then the container itself.
for who in ("pid", "fs_pid", "audit_pid", "watcher", "container"):
    session = started()
    watchers = [p for p, (parent, line) in parents().items()
                if parent == session["pid"] and "wardfs-oci" in line]
    victim = {**session, "watcher": watchers[0],
              "container": json.loads(oci("state", "box").stdout)["pid"]}[who]
    kill("running", victim)
    until(f"the container ends with {who}", lambda: state() in ("stopped", "gone"))
    oci("delete", "box", check=True)
    until(f"nothing left of a container without {who}", nothing_left)
    verify = subprocess.run([WARDFS, "audit", "verify", session["session"]], capture_output=True,
                            text=True)
    # The watcher writes nothing: without it the trail is whole, and tells of its end.
    word = {"container": "intact", "watcher": "the watcher of wardfs-oci died"}.get(
        who, "incomplete")
    if word not in verify.stdout + verify.stderr:
        sys.exit(f"FAIL: after {who}: {verify.stdout} {verify.stderr}")


def start_one():
    oci("create", "--bundle", BUNDLE, "box", check=True)
    return subprocess.Popen([OCI, "--root", ROOT, "start", "box"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def delete_one():
    started()
    return subprocess.Popen([OCI, "--root", ROOT, "delete", "--force", "box"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


ROUNDS //= 4
while_it_is("start", start_one, TOOK / 4)
while_it_is("delete", delete_one, TOOK)
print(f"create took {TOOK * 1000:.0f} ms; killed:")
for stage, names in killed.items():
    print(f"  {sum(names.values())} in {stage}: " +
          ", ".join(f"{name} {n}" for name, n in names.most_common()))
