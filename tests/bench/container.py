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
"""
import ctypes
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROUNDS = int(os.environ.get("WARD_BENCH_ROUNDS", "11"))
ALONE = {"runc": ["runc", "run"], "crun": ["crun", "run"],
         "runsc": ["runsc", "--platform=ptrace", "--ignore-cgroups", "--network=none", "run"]}


# sched.h, sys/mount.h
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


def bundle(where, volume):
    root = os.path.join(where, "rootfs")
    os.makedirs(os.path.join(root, "bin"))
    shutil.copy("/bin/busybox", os.path.join(root, "bin/true"))
    namespaces = [{"type": t} for t in ("mount", "pid", "ipc", "uts", "network")]
    config = {"ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True},
              "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": ["/bin/true"],
                          "env": ["PATH=/bin"], "cwd": "/"},
              "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                         {"destination": "/workspace", "type": "bind", "source": volume, "options": ["bind"]}],
              "linux": {"namespaces": namespaces}}
    for name in ("proc", "dev", "sys", "tmp", "workspace"):
        os.makedirs(os.path.join(root, name))
    with open(os.path.join(where, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f)


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


def own_host_file():
    """A mount namespace in which /etc/wardfs and the places of wardfs-oci are this program's."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.unshare(CLONE_NEWNS) != 0:
        return False
    if libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return False
    for place in "/etc/wardfs", "/run/wardfs", "/var/lib/wardfs":
        if not os.path.isdir(place):
            continue
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", place], check=True)
    if not os.path.isdir("/etc/wardfs"):
        return False
    pathlib.Path("/etc/wardfs/oci.policy").write_text("[oci]\nversion = 1\npolicy = medium\n", encoding="ascii")
    return True


def main():
    build, where = sys.argv[1:]
    wardfs, alone = f"{build}/wardfs", os.path.join(where, "..", "bench-bundle")
    bundle(alone, where)
    oci = shutil.which("runc") and own_host_file()
    alone_with = dict(ALONE, podman=podman(where))
    engines = [e for e in [*alone_with, "docker"] if shutil.which(e)]
    times = {}
    for i in range(ROUNDS):
        starts = {"start-restricted": ([wardfs, "run", "--", "/bin/true"], where)}
        for e in engines:
            if e == "podman":
                starts[e] = (alone_with[e], alone)
            elif e != "docker":
                starts[e] = (alone_with[e] + [f"bench-{os.getpid()}-{i}"], alone)
            starts[f"start-{e}"] = ([wardfs, "run", "--engine", e, "--", "/bin/true"], where)
        if oci:
            starts["oci-runc"] = ([f"{build}/wardfs-oci", "run", f"oci-{os.getpid()}-{i}"], alone)
        for name, (argv, cwd) in starts.items():
            times.setdefault(name, []).append(timed(argv, cwd))
    for name, values in times.items():
        if None not in values:
            print(name, statistics.median(values))
    shutil.rmtree(alone)
    shutil.rmtree(os.path.join(where, "..", "bench-podman"), ignore_errors=True)


main()
