#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vm.py --build DIR [--machine NAME] [OPTION]... [TEST]...: tests in a booted machine.

A machine is a Debian of its own with its own kernel and a booted systemd. It is made on first use
from Debian's packages, and kept in the cache (XDG_CACHE_HOME) by the digest of its recipe. Each run
starts from that image and changes nothing in it. The sources and the build go in on a second disk,
a third is blank; the lines of tests/run.py come back over a serial port.
"""
import argparse
import concurrent.futures
import datetime
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
from machines import BOOTS, MACHINES  # noqa: E402

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(, (\d+) skipped)?$")
VERDICT = re.compile(r"^(passed|FAILED|skipped) +(\S+) [0-9.]+s \(CPU [0-9.]+s\)(: (.*))?$")
MEMORY = "3G"
SPARE = 3 << 30  # bytes of the third disk, which is blank: a test may make file systems there
CUTS = 4  # so often may a test have its power cut
USER = "agent-owner"
DEFAULT = "default"
UNIT = """[Unit]
Description=Tests of wardfs
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'mkdir -p /src; tar -xf /dev/vdb -C /src && exec sh /src/tests/vm/guest.sh'
[Install]
WantedBy=graphical.target multi-user.target
"""


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def recipe_digest(machine, packages):
    parts = (machine.suite, machine.kernel, machine.packages, machine.extras, machine.size, machine.builds,
             packages, UNIT, INSTALL)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


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
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
chroot "$root" apt-get -q install -y --no-install-recommends "$@"
rm "$root/usr/sbin/policy-rc.d"
"""


def debootstrap(machine, packages, root, log):
    included = ",".join((*machine.packages, machine.kernel))
    logged(log, "debootstrap", "--variant=minbase", f"--include={included}", machine.suite, root,
           mirror(machine.suite))
    logged(log, "unshare", "--mount", "--propagation", "private", "sh", "-ec", INSTALL, "sh", root,
           *machine.extras, *packages)


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
    subprocess.run(["systemctl", f"--root={root}", "enable", "-q", "wardfs-vm.service"], check=True)
    subprocess.run(["chroot", root, "useradd", "-m", "-u", "1000", "-s", "/bin/bash", USER], check=True)
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


def command(machine, place, accel, work, options):
    # Mitigations cost most where code is translated. A busy host's timer is late at its check, and
    # services that start exceed systemd's 90 s.
    tcg = "" if accel == "kvm" else "mitigations=off no_timer_check systemd.default_timeout_start_sec=900"
    return ["qemu-system-x86_64", "-machine", f"q35,accel={accel}", "-cpu", "host" if accel == "kvm" else "max",
            "-smp", "2", "-m", MEMORY, "-display", "none", "-nodefaults", "-no-reboot",
            "-kernel", os.path.join(place, "kernel"), "-initrd", os.path.join(place, "initrd"),
            "-append", f"root=/dev/vda rw console=ttyS0 quiet panic=-1 {tcg} {machine.command_line} {options}",
            "-drive", f"file={os.path.join(place, 'disk')},format=raw,if=virtio,cache=unsafe,snapshot=on",
            "-drive", f"file={os.path.join(work, 'payload')},format=raw,if=virtio,readonly=on",
            "-drive", f"file={os.path.join(work, 'spare')},format=raw,if=virtio",
            "-serial", f"file:{os.path.join(work, 'console')}", "-serial", "stdio"]


class Run:
    """The boots of one machine with one set of options: relays what the tests say, and counts."""

    def __init__(self, name, options, results):
        self.name, self.options, self.results = name, options, results
        self.label = name if options == DEFAULT else f"{name} {options}"
        self.counts, self.status, self.kernel, self.user, self.cut = None, None, "", "root", False

    def say(self, text):
        # In one piece: another machine runs at the same time.
        print(f"{self.label}: {text}\n", end="", flush=True)

    def take(self, line):
        line = line.rstrip("\r\n")
        counts, verdict = COUNTS.match(line), VERDICT.match(line)
        if line.startswith("vm: booted "):
            self.kernel = line.split()[2]
        elif line.startswith("vm: as "):
            self.user = line.split()[2]
        elif line.startswith("vm: done "):
            self.status = int(line.split()[2])
        elif line == "vm: cut":
            self.cut = True
        elif counts:
            self.counts = [int(counts.group(i) or 0) + (self.counts[i // 2] if self.counts else 0) for i in (1, 2, 4)]
        else:
            self.say(line)
        if verdict:
            self.results.add(self, verdict)

    def boot(self, argv, seconds, console):
        """Runs the machine until it powers off, or until a test asks for a power cut."""
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              errors="replace", env={**os.environ, "TMPDIR": os.path.dirname(console)},
                              start_new_session=True) as qemu:
            alarm = threading.Timer(seconds, qemu.kill)
            alarm.start()
            for line in qemu.stdout:
                self.take(line)
                if self.cut:
                    qemu.kill()
                    break
            qemu.wait()
            alarm.cancel()
        if self.status is None and not self.cut:
            with open(console, errors="replace", encoding="utf-8") as f:
                tail = f.readlines()[-40:]
            self.say(f"the machine ended without a result, or was still at work after {seconds} s\n{''.join(tail)}")

    def boots(self, argv, seconds, console):
        """A machine whose power is cut boots again, with the same spare disk."""
        for _ in range(CUTS + 1):
            self.cut = False
            self.boot(argv, seconds, console)
            if not self.cut:
                return
        self.say(f"a test asked for more than {CUTS} power cuts")


class Results:
    """What ran where, when, and how it ended: a line a test, which the next run of it replaces."""

    def __init__(self, path):
        self.path, self.lines = path, {}
        self.lock = threading.Lock()  # protects the lines and the file
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    if not line.startswith("#"):
                        fields = line.rstrip("\n").split("\t")
                        self.lines[tuple(fields[:4])] = fields[4:]

    def add(self, run, verdict):
        with self.lock:
            self.lines[run.name, run.options, run.user, verdict.group(2)] = [
                run.kernel, datetime.date.today().isoformat(), verdict.group(1).lower(), verdict.group(4) or ""]

    def write(self):
        if not self.path:
            return
        with self.lock, open(self.path + ".new", "w", encoding="utf-8") as f:
            f.write("# Written by ./bootstrap test --vm --results FILE. A line has these fields, between tabs:\n"
                    "# machine, boot, user, test, kernel, date, verdict, reason of a skip\n")
            for key, rest in sorted(self.lines.items()):
                f.write("\t".join((*key, *rest)) + "\n")
            f.flush()
            os.rename(self.path + ".new", self.path)


def runner(tests, long, accel):
    words = shlex.join((["--long"] if long else []) + ["--patience", "1" if accel == "kvm" else "10", *tests])
    return f"python3 tests/run.py --build build {words}"


def job(name, tests, users, long, accel):
    """What guest.sh does: the tests as root, and then what also an ordinary user is to run."""
    text = f"export WARD_TEST_DIR=/var/tmp WARD_MACHINE={name}\nstatus=0\n"
    if tests:
        text += f"echo 'vm: as root'\n{runner(tests, long, accel)} || status=1\n"
    if users:
        inside = f"cd /src && WARD_TEST_DIR=/var/tmp {runner(users, long, accel)}"
        text += f"echo 'vm: as {USER}'\nrunuser -l {USER} -c {shlex.quote(inside)} || status=1\n"
    return text + "exit $status\n"


class Boot:
    """One boot: the name of its kernel options in BOOTS, and what runs in it."""

    def __init__(self, options, tests, users=()):
        self.options, self.tests, self.users = options, list(tests), list(users)


def boots_of(machine, words, everyone):
    """The boots that the words ask for. Comment lines of a script of tests/machine ask for more:

        # boot: NAME   a boot with the kernel options of that name; with more lines it runs in each
        # alone        nothing else runs in that boot: it cuts the power, say
    """
    words = words or list(machine.tests)
    ordinary = [w for w in words if not re.match(r"(tests/)?machine(/|$)", w)]
    boots, alone = {}, []
    if ordinary:
        boots[DEFAULT] = Boot(DEFAULT, ordinary, ordinary if everyone else ())
    for file in sorted(os.listdir(os.path.join(SRC, "tests/machine"))):
        name = f"machine/{file.removesuffix('.sh')}"
        if not file.endswith(".sh") or not any(re.sub(r"^tests/|\.sh$|/$", "", w) in ("machine", name) for w in words):
            continue
        with open(os.path.join(SRC, "tests", f"{name}.sh"), encoding="utf-8") as f:
            head = f.read(8192)
        for options in re.findall(r"^# boot: (\w+)$", head, re.M) or [DEFAULT]:
            if re.search(r"^# alone\b", head, re.M):
                alone.append(Boot(options, [name]))
            else:
                boots.setdefault(options, Boot(options, [])).tests.append(name)
    return [*boots.values(), *alone]


def run_machine(name, boots, o, accel, results):
    """Boots one machine as often as its tests need. Returns (counts, whether something failed)."""
    machine, place = machine_at(name, o.build_packages)
    build = build_among_its_own(name, place) if machine.builds else os.path.abspath(o.build)
    total, bad = [0, 0, 0], False
    for boot in boots:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp"), prefix="wardfs-vm.") as work:
            payload(os.path.join(work, "payload"), build, job(name, boot.tests, boot.users, o.long, accel))
            with open(os.path.join(work, "spare"), "wb") as f:
                f.truncate(SPARE)
            run = Run(name, boot.options, results)
            run.boots(command(machine, place, accel, work, BOOTS[boot.options]), o.seconds or machine.seconds,
                      os.path.join(work, "console"))
        results.write()
        bad |= run.status != 0 or run.counts is None
        if run.status is None:
            total[1] += 1
        if run.counts:
            total = [a + b for a, b in zip(total, run.counts)]
    return total, bad


def main():
    p = argparse.ArgumentParser(prog="./bootstrap test --vm")
    p.add_argument("--build", required=True)
    p.add_argument("--build-packages", required=True, help="what a build needs, by Debian's names")
    p.add_argument("--machine", action="append", choices=sorted(MACHINES))
    p.add_argument("--accel", choices=("tcg", "kvm"))
    p.add_argument("--long", action="store_true", help="also what takes long")
    p.add_argument("--seconds", type=int, help="end a machine after so long")
    p.add_argument("--root-alone", action="store_true", help="not as an ordinary user as well")
    p.add_argument("--results", metavar="FILE", help="keep what ran where, and how it ended, in this file")
    p.add_argument("--list", action="store_true", help="name the machines")
    p.add_argument("tests", nargs="*")
    o = p.parse_args()
    if o.list:
        for name, machine in sorted(MACHINES.items()):
            print(f"{name:12} {machine.about}")
        return 0
    accel, total, bad, results = acceleration(o.accel), [0, 0, 0], False, Results(o.results)
    names = o.machine or sorted(MACHINES)

    def run(name):
        return run_machine(name, boots_of(MACHINES[name], o.tests, not o.root_alone), o, accel, results)

    # Side by side: much of a test is waiting.
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        for counts, failed in pool.map(run, names):
            total, bad = [a + b for a, b in zip(total, counts)], bad | failed
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
