#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""container.py BUILD DIR: what an engine costs at the start, alone and in mode docker.

Prints lines "NAME VALUE", times in milliseconds: the median of ROUNDS that take turns. Engines that this host lacks, and
those that do not run alone here, are left out.

  start-restricted     `run -- /bin/true`
  ENGINE               the engine by itself, with busybox as its root, as root
  start-ENGINE         `run --engine ENGINE -- /bin/true`
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

ROUNDS = int(os.environ.get("WARD_BENCH_ROUNDS", "11"))
ALONE = {"runc": ["runc", "run"], "crun": ["crun", "run"],
         "runsc": ["runsc", "--platform=ptrace", "--ignore-cgroups", "--network=none", "run"]}


def bundle(where):
    root = os.path.join(where, "rootfs")
    os.makedirs(os.path.join(root, "bin"))
    shutil.copy("/bin/busybox", os.path.join(root, "bin/true"))
    namespaces = [{"type": t} for t in ("mount", "pid", "ipc", "uts", "network")]
    config = {"ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True},
              "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": ["/bin/true"],
                          "env": ["PATH=/bin"], "cwd": "/"},
              "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
              "linux": {"namespaces": namespaces}}
    for name in ("proc", "dev", "sys", "tmp"):
        os.makedirs(os.path.join(root, name))
    with open(os.path.join(where, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f)


def timed(argv, where):
    began = time.monotonic()
    done = subprocess.run(argv, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return 1000 * (time.monotonic() - began) if done.returncode == 0 else None


def main():
    build, where = sys.argv[1:]
    wardfs, alone = f"{build}/wardfs", os.path.join(where, "..", "bench-bundle")
    bundle(alone)
    engines = [e for e in ALONE if shutil.which(e)]
    times = {}
    for i in range(ROUNDS):
        starts = {"start-restricted": ([wardfs, "run", "--", "/bin/true"], where)}
        for e in engines:
            starts[e] = (ALONE[e] + [f"bench-{os.getpid()}-{i}"], alone)
            starts[f"start-{e}"] = ([wardfs, "run", "--engine", e, "--", "/bin/true"], where)
        for name, (argv, cwd) in starts.items():
            times.setdefault(name, []).append(timed(argv, cwd))
    for name, values in times.items():
        if None not in values:
            print(name, statistics.median(values))
    shutil.rmtree(alone)


main()
