#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weight.py BUILD DIR: what a session weighs whose command sleeps, in each container engine.

Prints lines "NAME VALUE"; NAME begins with restricted, an engine, or oci-runc (a container of runc
under wardfs-oci):

  NAME-processes   all that belong to it, without the command; NAME-counted: processes and threads
                   that count against the session's limit
  NAME-wardfs-MB   the memory of wardfs's own processes (PSS: a page that n processes share counts
                   1/n); NAME-engine-MB: of the engine's
  NAME-counted-MB  what counts against the session's limit of memory
"""
import json
import os
import shutil
import subprocess
import sys
import time

import engines

LIMIT = 120.0


def until(what, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"weight.py: never: {what}")
        time.sleep(0.05)


def processes():
    """{pid: (parent, name)}"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
                stat = f.read()
        except OSError:
            continue
        found[int(pid)] = int(stat[stat.rindex(")") + 2:].split()[1]), stat[stat.index("(") + 1:stat.rindex(")")]
    return found


def below(tops):
    table = processes()
    found = [pid for pid in tops if pid in table]
    for pid in found:
        found += [p for p, (parent, _) in table.items() if parent == pid and p not in found]
    return {pid: table[pid][1] for pid in found}


def pss(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return sum(int(line.split()[1]) for line in f if line.startswith("Pss:")) / 1024


def ended_well(argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def counted(wardfs):
    """What the control groups of the last session count: tasks, and MB."""
    show = subprocess.run([wardfs, "audit", "show", "--json", "--kind", "session.start", "latest"], check=True,
                          stdout=subprocess.PIPE).stdout
    groups = json.loads(show.splitlines()[0])["detail"]["sandbox"]["cgroups"]
    for name, file, unit in (("counted", "pids.current", 1), ("counted-MB", "memory.current", 1 << 20),
                             ("counted-MB", "memory.usage_in_bytes", 1 << 20)):
        for group in groups:
            path = os.path.join(group, file)
            if os.path.exists(path):
                with open(path, encoding="ascii") as f:
                    yield name, int(f.read()) / unit
                break


def weigh(name, tops):
    found = {pid: comm for pid, comm in below(tops).items() if comm != "sleep"}
    print(f"{name}-processes", len(found))
    for whose, mine in ("wardfs", True), ("engine", False):
        print(f"{name}-{whose}-MB", sum(pss(p) for p, comm in found.items() if comm.startswith("wardfs") == mine))


def main():
    build, where = sys.argv[1:]
    wardfs = f"{build}/wardfs"
    for name in ["restricted", *filter(shutil.which, engines.ENGINES)]:
        options = [] if name == "restricted" else ["--engine", name]
        session = f"weight-{name}-{os.getpid()}"
        with subprocess.Popen([wardfs, "run", *options, "--session", session, "--", "sleep", "600"], cwd=where,
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            try:
                # A kernel of its own shows no process of the command.
                until(f"{name} runs", lambda: ended_well([wardfs, "exec", session, "true"]))
                weigh(name, [run.pid])
                for what, value in counted(wardfs):
                    print(f"{name}-{what}", value, flush=True)
            finally:
                ended_well([wardfs, "kill", session])
    runc = shutil.which("runc")
    if runc and engines.own_host_file():
        at = os.path.join(where, "..", "weight-bundle")
        engines.bundle(at, where, ("sleep", "600"), usr=True)
        name = f"weight-{os.getpid()}"
        oci = [f"{build}/wardfs-oci", "--root", at + "/state"]
        subprocess.run([*oci, "create", "--bundle", at, name], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        subprocess.run([*oci, "start", name], check=True)
        (keeper,) = [s["pid"] for s in json.loads(subprocess.run(
            [wardfs, "ps", "--json"], check=True, stdout=subprocess.PIPE).stdout) if s["verb"] == "oci"]
        # At first the session asks runc how it went.
        until("runc has ended", lambda: all(comm.startswith("wardfs") for comm in below([keeper]).values()))
        weigh("oci-runc", [keeper])
        subprocess.run([*oci, "delete", "--force", name], check=True)
        shutil.rmtree(at)


main()
