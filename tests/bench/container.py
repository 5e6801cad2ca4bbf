#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""container.py BUILD DIR: what an engine costs at the start, alone and in mode docker.

Prints lines "NAME VALUE", times in milliseconds: the median of ROUNDS that take turns. Engines that this host lacks, and
those that do not run alone here, are left out.

  start-restricted     `run -- /bin/true`
  ENGINE               the engine by itself, with busybox as its root, as root; not docker, whose
                       daemon would have to run
  start-ENGINE         `run --engine ENGINE -- /bin/true`
  oci-runc             wardfs-oci in place of runc, with the same bundle; its volume is guarded
  oci-runc-adds        the median of the differences from the run of runc in the same round
"""
import os
import shutil
import statistics
import subprocess
import sys
import time

import engines

ROUNDS = int(os.environ.get("WARD_BENCH_ROUNDS", "11"))
ALONE = {"runc": ["runc", "run"], "crun": ["crun", "run"],
         "runsc": ["runsc", "--platform=ptrace", "--ignore-cgroups", "--network=none", "run"]}


def podman(where):
    """With a store of its own, on a host of any kind of control groups."""
    store = os.path.join(where, "..", "bench-podman")
    return ["podman", "--root", store, "--runroot", store + "/run", "--tmpdir", store + "/tmp",
            "--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--runtime=runc", "run", "--rm",
            "--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000",
            "--rootfs", os.path.join(where, "..", "bench-bundle", "rootfs"), "/bin/true"]


def timed(argv, where):
    began = time.monotonic()
    done = subprocess.run(argv, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return 1000 * (time.monotonic() - began) if done.returncode == 0 else None


def main():
    build, where = sys.argv[1:]
    wardfs, alone = f"{build}/wardfs", os.path.join(where, "..", "bench-bundle")
    engines.bundle(alone, where)
    oci = shutil.which("runc") and engines.own_host_file()
    alone_with = dict(ALONE, podman=podman(where))
    found = [e for e in engines.ENGINES if shutil.which(e)]
    times = {}
    for i in range(ROUNDS):
        starts = {"start-restricted": ([wardfs, "run", "--", "/bin/true"], where)}
        for e in found:
            if e == "podman":
                starts[e] = (alone_with[e], alone)
            elif e != "docker":
                starts[e] = (alone_with[e] + [f"bench-{os.getpid()}-{i}"], alone)
            starts[f"start-{e}"] = ([wardfs, "run", "--engine", e, "--", "/bin/true"], where)
        if oci:
            starts["oci-runc"] = ([f"{build}/wardfs-oci", "run", f"oci-{os.getpid()}-{i}"], alone)
        for name, (argv, cwd) in starts.items():
            times.setdefault(name, []).append(timed(argv, cwd))
    times = {name: values for name, values in times.items() if None not in values}
    for name, values in times.items():
        print(name, statistics.median(values))
    if {"runc", "oci-runc"} <= set(times):
        print("oci-runc-adds", statistics.median(map(float.__sub__, times["oci-runc"], times["runc"])))
    shutil.rmtree(alone)
    shutil.rmtree(os.path.join(where, "..", "bench-podman"), ignore_errors=True)


main()
