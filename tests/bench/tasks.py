#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tasks.py BUILD DIR: what a hundred tasks cost (docs/tasks.md), each of which runs `true`.

Prints lines "NAME VALUE", in milliseconds, for mode docker under runc and for mode restricted:

  MODE-each    the time of all, divided by their number: with copy, trail and verification
  MODE-start   the median of the times from the start of wardfs to the start of the command
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

TASKS, AT_ONCE = 100, 8
COORDINATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/tasks/coordinator.py")


def main():
    build, where = sys.argv[1:]
    base, results = os.path.join(where, "base"), os.path.join(where, "results")
    os.makedirs(base, exist_ok=True)
    modes = {"restricted": {"mode": "restricted"}}
    if shutil.which("runc"):
        modes["runc"] = {"mode": "docker", "engine": "runc"}
    for name, mode in modes.items():
        shutil.rmtree(results, ignore_errors=True)
        tasks = os.path.join(where, "tasks.json")
        with open(tasks, "w", encoding="utf-8") as f:
            json.dump([{"name": f"bench-{os.getpid()}-{name}-{n}", "project": base, "command": ["true"], **mode}
                       for n in range(TASKS)], f)
        began = time.monotonic()
        subprocess.run([sys.executable, COORDINATOR, "--at-once", str(AT_ONCE), "--wardfs", f"{build}/wardfs",
                        tasks, results], stdout=subprocess.DEVNULL, check=True)
        print(f"{name}-each", 1000 * (time.monotonic() - began) / TASKS)
        with open(os.path.join(results, "result.json"), encoding="utf-8") as f:
            print(f"{name}-start", statistics.median(t["start_ms"] for t in json.load(f)))
    shutil.rmtree(results)


main()
