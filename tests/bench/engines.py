#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Container engines as environments of the bench, with and without the guard.

engines.py PROGRAM ARG...   runs the program as root of a host that has no wardfs but this one: with
                            its own oci.policy, trails and places
"""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys

# sched.h, sys/mount.h
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
SHARING = ("runc", "crun", "podman", "docker")  # the kernel of the host
ENGINES = (*SHARING, "runsc")


def own_host_file():
    """A mount namespace in which /etc/wardfs and the places of wardfs-oci are this program's."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.unshare(CLONE_NEWNS) != 0:
        return False
    if libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return False
    for place in "/etc/wardfs", "/run/wardfs", "/var/lib/wardfs":
        os.makedirs(place, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", place], check=True)
    pathlib.Path("/etc/wardfs/oci.policy").write_text(
        "[oci]\nversion = 1\npolicy = medium\n[volumes]\nread = /usr\n", encoding="ascii")
    return True


def bundle(where, volume, argv=("/bin/true",), usr=False):
    """Of busybox, or of the host's /usr; volume is at /workspace, and the program starts there."""
    root = os.path.join(where, "rootfs")
    os.makedirs(os.path.join(root, "usr" if usr else "bin"), exist_ok=True)
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
              {"destination": "/workspace", "type": "bind", "source": volume, "options": ["rbind"]}]
    if usr:
        for name in ("bin", "lib", "lib64"):
            if not os.path.islink(os.path.join(root, name)):
                os.symlink(os.readlink("/" + name), os.path.join(root, name))
        mounts += [{"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]},
                   {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
                   {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}]
    else:
        shutil.copy("/bin/busybox", os.path.join(root, "bin/true"))
    namespaces = [{"type": t} for t in ("mount", "pid", "ipc", "uts", "network")]
    config = {"ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True},
              "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": list(argv),
                          "env": ["PATH=/usr/bin:/bin", "HOME=/tmp"], "cwd": "/workspace"},
              "mounts": mounts, "linux": {"namespaces": namespaces}}
    for name in ("proc", "dev", "sys", "tmp", "workspace"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    with open(os.path.join(where, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f)


class Runtime:
    """runc by itself, or wardfs-oci in its place: /workspace is the directory."""
    transport = None

    def __init__(self, scratch, name, program):
        self.name = name
        self.program = program
        self.bundle = os.path.join(scratch, name + ".bundle")
        self.runs = 0

    def run(self, where, argv):
        os.makedirs(self.bundle, exist_ok=True)
        bundle(self.bundle, where, argv, usr=True)
        self.runs += 1
        return subprocess.run(
            [sys.executable, os.path.abspath(__file__), self.program, "run",
             f"{self.name}-{os.getpid()}-{self.runs}"], cwd=self.bundle, check=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout


def runtimes(build, scratch):
    """Those that this host has; root alone has them."""
    runc = shutil.which("runc")
    if os.geteuid() or not runc:
        return []
    return [Runtime(scratch, "only-runc", runc),
            Runtime(scratch, "oci-runc", os.path.join(build, "wardfs-oci"))]


if __name__ == "__main__":
    if not own_host_file():
        sys.exit("engines.py: this needs root")
    os.execvp(sys.argv[1], sys.argv[1:])
