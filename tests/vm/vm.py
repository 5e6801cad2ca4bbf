#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vm.py --build DIR [--machine NAME] [OPTION]... [TEST]...: tests in a booted machine.

A machine is a Debian of its own with its own kernel and a booted systemd. It is made on first use
from Debian's packages, and kept in the cache (XDG_CACHE_HOME) by the digest of its recipe. Each run
starts from that image and changes nothing in it. The sources and the build go in on a second disk;
the lines of tests/run.py come back over a serial port.
"""
import argparse
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from machines import MACHINES  # noqa: E402

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(, (\d+) skipped)?$")
MEMORY = "3G"
UNIT = """[Unit]
Description=Tests of wardfs
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh /usr/local/sbin/wardfs-vm
[Install]
WantedBy=graphical.target multi-user.target
"""


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def recipe_digest(machine, packages):
    with open(os.path.join(HERE, "guest.sh"), "rb") as f:
        return hashlib.sha256(repr((machine, packages)).encode() + UNIT.encode() + f.read()).hexdigest()[:16]


def mirror(suite):
    """Where this host takes the packages of a suite from: no mirror is named here."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)",
                           "Created-By: Packages"], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        address, codename, component = line.split()
        if component == "main" and codename in (suite, "bookworm"):
            return address
    sys.exit("vm: apt knows no mirror of Debian: run apt-get update")


def logged(log, *argv):
    with open(log, "ab") as out:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)
    if done.returncode:
        with open(log, errors="replace", encoding="utf-8") as f:
            sys.exit(f"vm: {argv[0]} failed:\n" + "".join(f.readlines()[-20:]))


# debootstrap resolves no alternatives and no versions, so what builds need is left to apt.
INSTALL = """
root=$1; shift
touch "$root/etc/resolv.conf"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
export DEBIAN_FRONTEND=noninteractive
exec chroot "$root" apt-get -q install -y --no-install-recommends "$@"
"""


def debootstrap(machine, packages, root, log):
    included = ",".join((*machine.packages, machine.kernel))
    logged(log, "debootstrap", "--variant=minbase", f"--include={included}", machine.suite, root,
           mirror(machine.suite))
    if packages:
        logged(log, "unshare", "--mount", "--propagation", "private", "sh", "-ec", INSTALL, "sh", root, *packages)


def settle(root):
    """What makes a directory of packages into a machine."""
    def put(path, text, mode=0o644):
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
    put("etc/fstab", "/dev/vda / ext4 rw,relatime 0 1\n")
    put("etc/hostname", "wardfs-vm\n")
    put("etc/hosts", "127.0.0.1 localhost wardfs-vm\n::1 localhost\n")
    put("etc/systemd/system/wardfs-vm.service", UNIT)
    with open(os.path.join(HERE, "guest.sh"), encoding="utf-8") as f:
        put("usr/local/sbin/wardfs-vm", f.read(), 0o755)
    subprocess.run(["systemctl", f"--root={root}", "enable", "-q", "wardfs-vm.service"], check=True)
    subprocess.run(["chroot", root, "useradd", "-m", "-u", "1000", "-s", "/bin/bash", "agent-owner"], check=True)
    subprocess.run(["chroot", root, "apt-get", "clean"], check=True)


def make(name, machine, packages, place):
    """The machine's directory in the cache: disk, kernel, initrd; where it builds also its root."""
    for tool in ("debootstrap", "mke2fs", "systemctl"):
        if not shutil.which(tool):
            sys.exit(f"vm: {tool} is missing")
    say(f"making {name} ({machine.about})")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(place), prefix=".new-") as work:
        root, new = os.path.join(work, "root"), os.path.join(work, "machine")
        os.mkdir(new)
        debootstrap(machine, packages, root, os.path.join(work, "log"))
        settle(root)
        for file in os.listdir(os.path.join(root, "boot")):
            for start, called in (("vmlinuz-", "kernel"), ("initrd.img-", "initrd")):
                if file.startswith(start):
                    shutil.copy(os.path.join(root, "boot", file), os.path.join(new, called))
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "casefold", "-E", "encoding=utf8", "-d", root,
                        os.path.join(new, "disk"), machine.size], check=True)
        if machine.builds:
            os.rename(root, os.path.join(new, "root"))
        os.rename(new, place)


def machine_at(name, packages):
    machine = MACHINES[name]
    packages = tuple(packages.split()) if machine.builds else ()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    place = os.path.join(cache, "wardfs", "machines", f"{name}-{recipe_digest(machine, packages)}")
    if not os.path.isdir(place):
        make(name, machine, packages, place)
    return machine, place


BUILD = """
mkdir -p "$2/src" "$2/build"
mount --bind "$1" "$2/src"
mount -o remount,bind,ro "$2/src"
mount -t proc proc "$2/proc"
mount -t tmpfs tmpfs "$2/tmp"
exec env -i PATH=/usr/sbin:/usr/bin LC_ALL=C.UTF-8 chroot "$2" sh -ec '
	[ -e /build/build.ninja ] || meson setup /build /src -Dtests=enabled
	exec ninja -C /build'
"""


def build_among_its_own(name, place):
    """Builds wardfs with the machine's compiler and libraries, on this host's kernel. Returns where."""
    root = os.path.join(place, "root")
    say(f"building for {name}")
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec", BUILD, "sh", SRC, root],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"vm: the build for {name} failed:\n" + done.stdout[-4000:] + done.stderr[-2000:])
    return os.path.join(root, "build")


def payload(path, build, job):
    """The second disk: sources, build, and the job."""
    def wanted(info):
        parts = info.name.split("/")
        skip = parts[0] == ".git" or (parts[0].startswith("build") and parts[0] != "build") or parts[-1].endswith(".o")
        return None if skip else info
    with tarfile.open(path, "w") as tar:
        for entry in sorted(os.listdir(SRC)):
            if not entry.startswith("build") and entry != ".git":
                tar.add(os.path.join(SRC, entry), entry)
        tar.add(build, "build", filter=wanted)
        file = os.path.join(os.path.dirname(path), "job")
        with open(file, "w", encoding="utf-8") as f:
            f.write(job)
        tar.add(file, "job")
    with open(path, "ab") as f:
        f.truncate(-(-os.path.getsize(path) // (1 << 20)) << 20)


def kvm_works():
    """A /dev/kvm may be there and refuse what qemu sets: within some virtual machines, say."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    done = subprocess.run(["qemu-system-x86_64", "-machine", "q35,accel=kvm", "-cpu", "host", "-display", "none",
                           "-nodefaults", "-S", "-monitor", "stdio"], input="quit\n", text=True,
                          capture_output=True, timeout=60, check=False)
    return done.returncode == 0


def acceleration(asked):
    return asked or ("kvm" if kvm_works() else "tcg")


def command(machine, place, disk, accel, work):
    return ["qemu-system-x86_64", "-machine", f"q35,accel={accel}", "-cpu", "host" if accel == "kvm" else "max",
            "-smp", "2", "-m", MEMORY, "-display", "none", "-nodefaults", "-no-reboot", "-snapshot",
            "-kernel", os.path.join(place, "kernel"), "-initrd", os.path.join(place, "initrd"),
            "-append", f"root=/dev/vda rw console=ttyS0 quiet panic=-1 {machine.command_line}",
            "-drive", f"file={os.path.join(place, 'disk')},format=raw,if=virtio,cache=unsafe",
            "-drive", f"file={disk},format=raw,if=virtio,readonly=on",
            "-serial", f"file:{os.path.join(work, 'console')}", "-serial", "stdio"]


class Run:
    """One boot: relays what the tests say."""

    def __init__(self, name):
        self.name, self.counts, self.status, self.booted = name, None, None, False

    def take(self, line):
        line = line.rstrip("\r\n")
        counts = COUNTS.match(line)
        if line.startswith("vm: booted"):
            self.booted = True
        if line.startswith("vm: done"):
            self.status = int(line.split()[2])
        elif counts:
            self.counts = [int(counts.group(i) or 0) for i in (1, 2, 4)]
        else:
            print(f"{self.name}: {line}", flush=True)

    def boot(self, argv, seconds, console):
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              errors="replace", env={**os.environ, "TMPDIR": os.path.dirname(console)}) as qemu:
            alarm = threading.Timer(seconds, qemu.kill)
            alarm.start()
            for line in qemu.stdout:
                self.take(line)
            qemu.wait()
            alarm.cancel()
        if self.status is None:
            with open(console, errors="replace", encoding="utf-8") as f:
                tail = f.readlines()[-40:]
            print(f"{self.name}: the machine ended without a result, or was still at work after {seconds} s\n"
                  f"{''.join(tail)}", flush=True)


def job(tests, long, accel):
    words = shlex.join((["--long"] if long else []) + ["--patience", "1" if accel == "kvm" else "10", *tests])
    return f"export WARD_TEST_DIR=/var/tmp\nexec python3 tests/run.py --build build {words}\n"


def main():
    p = argparse.ArgumentParser(prog="./bootstrap test --vm")
    p.add_argument("--build", required=True)
    p.add_argument("--build-packages", required=True, help="what a build needs, by Debian's names")
    p.add_argument("--machine", action="append", choices=sorted(MACHINES))
    p.add_argument("--accel", choices=("tcg", "kvm"))
    p.add_argument("--long", action="store_true", help="also what takes long")
    p.add_argument("--seconds", type=int, help="end a machine after so long")
    p.add_argument("--list", action="store_true", help="name the machines")
    p.add_argument("tests", nargs="*")
    o = p.parse_args()
    if o.list:
        for name, machine in sorted(MACHINES.items()):
            print(f"{name:12} {machine.about}")
        return 0
    accel, total, bad = acceleration(o.accel), [0, 0, 0], False
    for name in o.machine or sorted(MACHINES):
        machine, place = machine_at(name, o.build_packages)
        build = build_among_its_own(name, place) if machine.builds else os.path.abspath(o.build)
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp"), prefix="wardfs-vm.") as work:
            disk = os.path.join(work, "payload")
            payload(disk, build, job(o.tests or machine.tests, o.long, accel))
            run = Run(name)
            run.boot(command(machine, place, disk, accel, work), o.seconds or machine.seconds,
                     os.path.join(work, "console"))
        bad |= run.status != 0 or run.counts is None
        if run.counts is None:
            total[1] += 1
        else:
            total = [a + b for a, b in zip(total, run.counts)]
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
