#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py [--build DIR] [--json FILE] [--rows NAME,...] [--rounds N] [--uring] [--rootless] [--hostd] [--review]: guarded against native.

Every environment has its own copy of the same data on the same file system, warm in the page cache.
"cold" means a mount that was just made. The rounds are interleaved: each section runs natively, on
its peers (bindfs, fuse-overlayfs and bubblewrap, where installed) and in a session, in changing
order, then the next round begins. A ratio is that of the medians. Nothing here passes or fails.
"""
import argparse
import fcntl
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import driver
import projects
import replay
import review
import workloads

HERE = os.path.dirname(os.path.abspath(__file__))
# Row: (section, what it is called in the table, the ratio to reach as root on a quiet machine).
ROWS = {
    "find-cold": ("find", "find, cold", 1.8),
    "find-warm": ("find", "find, warm", None),
    "open-cold": ("open", "open+read+close 10k, cold", 7),
    "open-warm": ("open", "open+read+close 10k, warm", 7),
    "git-status-cold": ("git-status", "git status 20k, cold", 4),
    "git-status-warm": ("git-status", "git status 20k, warm", 1.15),
    "tar-x": ("tar", "tar -x 4k", 1.4),
    "rm-r": ("tar", "rm -r 4k", 2.5),
    "git-checkout": ("checkout", "git checkout of 4k files", None),
    "read-seq": ("io", "read, sequential", 1.05),
    "read-again": ("io", "read, sequential, again", 1.05),
    "read-rand": ("io", "read, 4 KiB random", 1.05),
    "write-seq": ("io", "write, sequential", 1.05),
    "write-rand": ("io", "write, 4 KiB random", None),
    "write-seq-quota": ("quota", "write, sequential, byte quota", 2),
    "write-rand-quota": ("quota", "write, 4 KiB random, byte quota", 4),
    "c-build": ("c-build", "C build", 1.03),
    "sqlite": ("sqlite", f"sqlite, {driver.INSERTS} inserts", 2.4),
    "sqlite-sync": ("sqlite", f"sqlite, {driver.SYNCED} inserts, on disk each", 2.4),
    "npm-ci": ("npm", f"npm ci, {projects.NPM_PACKAGES} packages", 1.4),
    "git-clone": ("clone", f"git clone of {workloads.CLONED_DIRS * workloads.CLONED_FILES:,} files", None),
    "rg-cold": ("search", f"rg over {workloads.SEARCHED_DIRS * workloads.SEARCHED_FILES:,} files, cold", None),
    "rg-warm": ("search", f"rg over {workloads.SEARCHED_DIRS * workloads.SEARCHED_FILES:,} files, warm", None),
    "cargo-build": ("cargo", "cargo build of a small crate", None),
    "pytest": ("pytest", f"pytest, {workloads.PYTEST_MODULES * workloads.PYTEST_TESTS} tests", None),
    "vite-build": ("vite", f"vite build of {workloads.VITE_MODULES} modules", None),
    "start": ("start", "start of `-- true`, ms", None),
    "policy": ("policy", "policy of 10, 1,000, 10,000 rules", None),
    "trail": ("trail", "records to disk, verification", None),
    "sessions": ("sessions", "questions over many sessions", None),
    "replay": ("replay", "git checkout outside, with a session that watches", None),
    "net": ("net", "start, streams and connections through the broker", None),
    "wasm": ("wasm", "mode wasm: start, Fibonacci, JSON", None),
    "image": ("image", "start with an unpacked image", None),
    "container": ("container", "start in each container engine", None),
    "tasks": ("tasks", "100 tasks, 8 at a time", None),
    "ask": ("ask", "a question on the screen, its answer", None),
    "review": ("review", "staged changes: steps, apply, undo", None),
}
# Of a section that has its own, in its directory.
POLICY = "./.bench.policy"
DENIALS = "[policy]\nversion = 1\nextends = medium\n[audit]\nlog = denials\n"
FREE = "[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = none\n"
QUOTA = "[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = 4G\n"
# Against the same guard without review.
REVIEW = {"npm-ci": 1.3, "c-build": 1.05, "git-checkout": 2.0, "read-seq": 1.5, "read-again": 1, "read-rand": 1,
          "write-seq": 1}
ROOTLESS = {"read-seq": 3, "read-again": 1.1, "read-rand": 1.1}
STARTS = 5  # a round
RECORDS = 300000
# Rows that are no ratio to native.
ALONE = ("start", "policy", "trail", "sessions", "net", "replay", "wasm", "image", "container", "tasks", "ask",
         "review")
IO_BYTES = 192 << 20


def inserts(n, synchronous):
    """Each is a transaction. FULL is sqlite's default."""
    return (f"PRAGMA synchronous={synchronous};\nCREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);\n" +
            "".join(f"INSERT INTO t(b) VALUES('row number {i}');\n" for i in range(n)))


def quiet(*argv, good=(0,), **how):
    done = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    if done.returncode not in good:
        raise subprocess.CalledProcessError(done.returncode, argv)


# --- the data ---

def small_files(top, dirs, files, text=""):
    for d in range(dirs):
        os.makedirs(f"{top}/{d}")
        for f in range(files):
            with open(f"{top}/{d}/{f}", "w", encoding="ascii") as out:
                out.write(f"{d} {f}{text}\n" * 64)


def prepare(section, where):
    os.makedirs(where)
    if section in workloads.PREPARE:
        workloads.PREPARE[section](where)
    elif section == "open":
        small_files(f"{where}/data", driver.OPEN_DIRS, driver.OPEN_FILES)
    elif section == "find":
        small_files(f"{where}/data", 400, 50)
    elif section == "git-status":
        small_files(f"{where}/data", 400, 50)
        quiet("git", "init", cwd=where)
        quiet("git", "add", "-A", cwd=where)
        quiet("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-m",
              "data", cwd=where)
    elif section == "tar":
        small_files(f"{where}/data", 80, 50)
        quiet("tar", "-cf", "data.tar", "data", cwd=where)
    elif section == "checkout":
        quiet("git", "init", "-b", "one", cwd=where)
        for branch, text in (("one", "one"), ("other", "other")):
            if branch != "one":
                quiet("git", "checkout", "-b", branch, cwd=where)
                shutil.rmtree(f"{where}/data")
            small_files(f"{where}/data", 80, 50, text)
            quiet("git", "add", "-A", cwd=where)
            quiet("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-m", branch,
                  cwd=where)
        quiet("git", "checkout", "one", cwd=where)
    elif section in ("io", "quota"):
        with open(f"{where}/data", "wb") as f:
            for _ in range(IO_BYTES >> 20):
                f.write(os.urandom(1 << 20))
        with open(os.path.join(where, POLICY), "w", encoding="ascii") as f:
            f.write(QUOTA if section == "quota" else FREE)
    elif section == "c-build":
        projects.c_project(where)
    elif section == "replay":
        replay.prepare(where)
    elif section == "npm":
        projects.npm_project(where)
    elif section == "sqlite":
        with open(f"{where}/insert.sql", "w", encoding="ascii") as f:
            f.write(inserts(driver.INSERTS, "OFF"))
        with open(f"{where}/synced.sql", "w", encoding="ascii") as f:
            f.write(inserts(driver.SYNCED, "FULL"))


def warm(where):
    """Reads the backing as a whole: what is measured is the guard, not the disk."""
    quiet("sh", "-c", 'find "$1" -type f -size +0 -exec cat {} + | cat', "sh", where)


# --- the environments ---

class Native:
    name = "native"

    def run(self, where, argv):
        return subprocess.run(argv, cwd=where, check=True, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout


class Bwrap(Native):
    """The sandbox alone, with no file system in between."""
    name = "bwrap"

    def __init__(self, _scratch):
        pass

    def run(self, where, argv):
        return super().run(where, [*BWRAP[:-1], "--chdir", "/workspace", "--"] + argv)


class Mounted:
    """Another file system in between, mounted for each run."""

    def __init__(self, scratch):
        self.point = os.path.join(scratch, "mnt", self.name)
        os.makedirs(self.point)

    def mount(self, where):
        raise NotImplementedError

    def run(self, where, argv):
        self.mount(where)
        try:
            return Native().run(self.point, argv)
        finally:
            for _ in range(100):
                if subprocess.run(["umount", self.point], stderr=subprocess.DEVNULL,
                                  check=False).returncode == 0:
                    break
                time.sleep(0.05)


class Bindfs(Mounted):
    name = "bindfs"

    def mount(self, where):
        quiet("bindfs", where, self.point)


class FuseOverlayfs(Mounted):
    name = "fuse-overlayfs"

    def mount(self, where):
        # What a run leaves stays for the next one, as elsewhere.
        upper, work = where + ".upper", where + ".work"
        for path in (upper, work):
            os.makedirs(path, exist_ok=True)
        quiet("fuse-overlayfs", "-o", f"lowerdir={where},upperdir={upper},workdir={work}",
              self.point)


class Setting:
    """FUSE over io_uring allowed ("Y") or not ("N") on this host, then as it was before. Tests that
    change it too hold the same lock. None: as it is."""
    path = "/sys/module/fuse/parameters/enable_uring"

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        if self.value:
            self.fd = os.open(self.path, os.O_RDWR)
            fcntl.flock(self.fd, fcntl.LOCK_EX)
            self.before = os.pread(self.fd, 1, 0)
            os.pwrite(self.fd, self.value.encode(), 0)

    def __exit__(self, *_):
        if self.value:
            os.pwrite(self.fd, self.before, 0)
            os.close(self.fd)


# Where the CPUs cannot be kept awake: there, rings are chosen.
NO_LATENCY = ["unshare", "--mount", "sh", "-ec",
              "mount --bind /dev/cpu_dma_latency /dev/cpu_dma_latency; "
              'mount -o remount,bind,nodev /dev/cpu_dma_latency; exec "$@"', "sh"]


class Guarded:
    options = []

    def __init__(self, build, name="guarded", allowed=None):
        self.wardfs = os.path.join(build, "wardfs")
        self.name = name
        self.allowed = allowed
        self.transport = None

    def run(self, where, argv):
        policy = [f"--policy={POLICY}"] if os.path.exists(os.path.join(where, POLICY)) else []
        before = NO_LATENCY if self.allowed == "Y" else []
        with Setting(self.allowed):
            out = Native().run(where, [*before, self.wardfs, "run", *self.options, *policy, "--"] + argv)
        self.transport = self.transport or transport_of_last()
        return out


class Reviewed(Guarded):
    """The same session with its changes staged, and thrown away."""
    options = ["--review"]

    def __init__(self, build):
        super().__init__(build, "review")

    def run(self, where, argv):
        out = super().run(where, argv)
        reviews = os.path.join(os.environ["XDG_STATE_HOME"], "wardfs", "reviews")
        for session in os.listdir(reviews):
            quiet(self.wardfs, "review", "discard", "--session", session, cwd=where)
        return out


class Rootless(Guarded):
    """An ordinary user's session, who may open /dev/fuse as on most machines."""
    uid = "54321"
    after_home = []
    before = ["unshare", "--mount", "sh", "-ec",
              'mount -t tmpfs -o mode=755 tmpfs "$0"; mknod -m 666 "$0/fuse" c 10 229; '
              'mount --bind "$0/fuse" /dev/fuse; umount -l "$0"; unset XDG_CONFIG_HOME; HOME=$1; '
              'XDG_STATE_HOME=$1/state; export HOME XDG_STATE_HOME; shift; exec "$@"']

    def __init__(self, build, scratch, name="rootless"):
        super().__init__(self.readable(build, os.path.join(scratch, "build")), name)
        self.home = os.path.join(scratch, "home")
        self.point = os.path.join(scratch, "dev")
        for path in (self.home, self.point):
            os.mkdir(path)
        os.chown(self.home, int(self.uid), int(self.uid))

    @staticmethod
    def readable(build, to):
        """The programs where that user can reach them."""
        os.mkdir(to)
        for name in os.listdir(build):
            path = os.path.join(build, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                shutil.copy(path, to)
        shutil.copytree(os.path.join(build, "conf"), os.path.join(to, "conf"))
        return to

    def run(self, where, argv):
        # Once: a chown to the same owner changes ctime, and git reads all of a changed file.
        quiet("find", where, "!", "-uid", self.uid, "-exec", "chown", "-h",
              f"{self.uid}:{self.uid}", "{}", "+")
        policy = [f"--policy={POLICY}"] if os.path.exists(os.path.join(where, POLICY)) else []
        out = Native().run(where, [
            *self.before, self.point, self.home, *self.after_home, "setpriv", f"--reuid={self.uid}",
            f"--regid={self.uid}", "--clear-groups", self.wardfs, "run", *policy, "--"] + argv)
        self.transport = self.transport or transport_of_last(os.path.join(self.home, "state"))
        return out


class Hosted(Rootless):
    """The same where the host has wardfs-hostd, which is started for each run."""
    caps = "+sys_admin,+setuid,+setgid"
    service = ("mount -t tmpfs -o mode=755 tmpfs /run; mkdir /run/wardfs-host; "
               'python3 "$2" /run/wardfs-host/socket 0 /usr/bin/setpriv --reuid=54322 --regid=54322 '
               f"--clear-groups --inh-caps=-all,{caps} --ambient-caps=-all,{caps} "
               '"$3/wardfs-hostd" & service=$!; until [ -S /run/wardfs-host/socket ]; do sleep 0.01; '
               'done; shift 3; "$@"; kill "$service"')

    def __init__(self, build, scratch):
        os.mkdir(os.path.join(scratch, "with-hostd"))
        super().__init__(build, os.path.join(scratch, "with-hostd"), "hostd")
        script = self.before[-1].replace('shift; exec "$@"', self.service)
        activate = os.path.join(HERE, "../support/activate.py")
        self.before = [*self.before[:-1], script]
        self.after_home = [activate, os.path.dirname(self.wardfs)]


def transport_of_last(state=None):
    """How requests reached the guard in the last session, as its trail says."""
    sessions = os.path.join(state or os.environ["XDG_STATE_HOME"], "wardfs", "sessions")
    trails = [os.path.join(sessions, name, "trail.jsonl") for name in os.listdir(sessions)]
    with open(max(trails, key=os.path.getmtime), encoding="utf-8") as f:
        return json.loads(f.readline())["detail"].get("transport", "?")


class Unwatched(Guarded):
    """A session that cannot watch the backing: what the watches cost is the difference."""

    def __init__(self, build):
        super().__init__(build, "unwatched")

    def run(self, where, argv):
        knockout = os.path.join(os.path.dirname(self.wardfs), "tests/support/knockout")
        return Native().run(where, [knockout, "fanotify_init=ENOSYS", "--", self.wardfs, "run",
                                    "--"] + argv)


class Denials(Guarded):
    """A session that records refusals alone: what the records of opens cost is the difference."""

    def __init__(self, build):
        super().__init__(build, "denials")

    def run(self, where, argv):
        policy = os.path.join(where, POLICY)
        if not os.path.exists(policy):
            with open(policy, "w", encoding="ascii") as f:
                f.write(DENIALS)
        return super().run(where, argv)


PEERS = (Bindfs, FuseOverlayfs, Bwrap)
# Rows that are measured once more in a session of which one thing is left out: what that thing
# costs, in percent, and what it may.
LESS = (("tar-x", "unwatched", "watches on the backing", 5),
        ("open-cold", "denials", "records of opens (against log = denials)", 10),
        ("open-warm", "denials", "records of opens (against log = denials)", 10),
        ("c-build", "denials", "records of opens (against log = denials)", 2))
BWRAP = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr",
         "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
         "/lib64", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs",
         "/tmp", "--tmpfs", "/run", "--bind", ".", "/workspace", "--cap-drop", "ALL", "--"]


def probes_seconds(build, where):
    """Of the last session: from the record of what is in force to the verdicts of all probes. The
    command's own confinement is part of it."""
    show = [f"{build}/wardfs", "audit", "show", "--json", "latest"]
    out = subprocess.run(show, cwd=where, check=True, stdout=subprocess.PIPE).stdout
    records = [json.loads(line) for line in out.splitlines()]
    began = next(r["mono"] for r in records if r["kind"] == "session.start")
    return (max(r["mono"] for r in records if r["kind"] == "probe") - began) / 1e9


def start_rows(build, where):
    """Milliseconds that `true` takes: bare, in bwrap, in a session; one after the other."""
    commands = {"native": ["true"], "guarded": [f"{build}/wardfs", "run", "--", "true"]}
    if shutil.which("bwrap"):
        commands["bwrap"] = BWRAP + ["true"]
    times = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, argv in commands.items():
            began = time.monotonic()
            quiet(*argv, cwd=where, stdin=subprocess.DEVNULL)
            times[name].append(time.monotonic() - began)
            if name == "guarded":
                times.setdefault("probes", []).append(probes_seconds(build, where))
    return {name: statistics.median(values) for name, values in times.items()}


# Rows that a script of this name measures: lines "NAME VALUE".
SCRIPTS = ("container", "ask", "tasks", "review", "image", "wasm")


def script_rows(name, build, where):
    """Most of them milliseconds."""
    out = Native().run(where, ["/usr/bin/python3", os.path.join(HERE, name + ".py"), os.path.abspath(build), where])
    return {line.split()[0]: float(line.split()[1]) for line in out.splitlines()}


def policy_rows(build):
    """Seconds to compile and to step, by number of rules; nothing of it is guarded or native."""
    out = Native().run(build, [f"{build}/tests/bench/bench_policy"])
    return {name: float(seconds) for name, seconds in map(str.split, out.splitlines())}


def seconds_of(*argv, good=(0,)):
    """Wall clock, and processor time with that of its children: other load does not count in it."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    quiet(*argv, good=good)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (time.monotonic() - began,
            after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def trail_rows(build, where, records):
    """Records a second from a ring to disk, bytes a record, MB a second of verification."""
    state = os.path.join(where, "state")
    shutil.rmtree(state, ignore_errors=True)
    began = time.monotonic()
    said = subprocess.run([f"{build}/tests/support/auditrun", "--program", f"{build}/wardfs-audit",
                           "--state", state, "--session", "bench", "--events", str(records)],
                          check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          encoding="utf-8").stderr
    wall = time.monotonic() - began
    cpu = int(said.splitlines()[-1].split()[1]) / 1e6  # "writer N us"
    log = f"{state}/sessions/bench/trail.jsonl"
    size = os.path.getsize(log)
    key = subprocess.run([f"{build}/wardfs", "audit", "key", "show", "--state", state], check=True,
                         stdout=subprocess.PIPE, encoding="ascii").stdout.strip()
    result = {"records": records, "records-per-s": records / wall, "writer-records-per-s": records / cpu,
              "bytes-per-record": size / records}
    for name, argv in ("verify", ["bench", "--state", state]), ("verify-public", ["--key", key, log]):
        cpu = seconds_of(f"{build}/wardfs", "audit", "verify", *argv)[1]
        result[f"{name}-MB-per-s"] = size / 1e6 / cpu
    audit = [f"{build}/wardfs", "audit"]
    cpu = seconds_of(*audit, "index", "--state", state)[1]
    result["indexed-per-s"] = records / cpu
    question = "SELECT count(*) FROM records WHERE path = '/workspace/t0-777'"
    # Last: from here on the log is compressed.
    result["question-ms"] = 1000 * seconds_of(*audit, "sql", question, "--state", state)[0]
    cpu = seconds_of(*audit, "prune", "--state", state)[1]
    result["packed-MB-per-s"] = size / 1e6 / cpu
    result["packed-bytes-per-record"] = os.path.getsize(log + ".zst") / records
    cpu = seconds_of(*audit, "verify", "bench", "--state", state)[1]
    result["verify-packed-MB-per-s"] = size / 1e6 / cpu
    return result


QUESTIONS = {"list": ["list"], "list-all": ["list", "--limit", "all"], "list-kind": ["list", "--kind", "deny"],
             "list-label": ["list", "--label", "ticket=A-17"], "network": ["network"],
             "network-host": ["network", "--host", "example.org"], "guarantees": ["guarantees"],
             "summary": ["summary", "s000001"]}


def sessions_rows(build, where, sessions):
    """Questions over many sessions (tests/support/manysessions.c): milliseconds of the processor's time."""
    state = os.path.join(where, "sessions-state")
    shutil.rmtree(state, ignore_errors=True)
    quiet(f"{build}/tests/support/manysessions", state, str(sessions))
    audit = [f"{build}/wardfs", "audit"]
    quiet(*audit, "index", "--state", state)
    quiet(*audit, "list", "--state", state)  # reads the whole ledger once
    # 1: a guarantee was missing, as manysessions made it.
    result = {name: 1000 * min(seconds_of(*audit, *question, "--state", state, good=(0, 1))[1] for _ in range(3))
              for name, question in QUESTIONS.items()}
    shutil.rmtree(state)
    return {"sessions": sessions, **result}


def net_rows(build, where):
    """Direct and through the broker, in a network namespace of its own (net.py)."""
    out = Native().run(where, ["unshare", "--net", "/usr/bin/python3", os.path.join(HERE, "net.py"),
                               build, where])
    return {name: float(value) for name, value in map(str.split, out.splitlines())}


# --- the measurement ---

def measure(options, scratch, sections):
    environments = [Native()]
    environments += [peer(scratch) for peer in PEERS
                     if shutil.which(peer.name) and not options.no_peers]
    if options.uring:
        environments.append(Guarded(options.build, allowed="N"))
        environments.append(Guarded(options.build, "io_uring", "Y"))
    elif not options.no_guarded:
        environments.append(Guarded(options.build))
    if options.review:
        environments.append(Reviewed(options.build))
    if options.rootless:
        environments.append(Rootless(options.build, scratch))
    if options.hostd:
        environments.append(Hosted(options.build, scratch))
    extra = {}
    if not options.no_guarded and not options.uring:
        extra = {section: [Denials(options.build)] for section in ("open", "c-build")}
    if not options.no_guarded and not os.geteuid():
        extra["tar"] = [Unwatched(options.build)]
    times = {}
    data = {}
    for section in sections:
        for e in environments + extra.get(section, []):
            data[section, e.name] = where = os.path.join(scratch, e.name, section)
            prepare(section, where)
            if section not in ALONE:
                os.mkdir(where + "/.bench")
                shutil.copy(os.path.join(options.build, "tests/bench/bench_work"), where + "/.bench/work")
                for name in ("driver.py", "workloads.py"):
                    shutil.copy(os.path.join(HERE, name), where + "/.bench")
                if section == "git-status":
                    # The index keeps what stat said; each environment's is its own.
                    with open(where + "/.git/info/exclude", "a", encoding="ascii") as f:
                        f.write("/.bench\n")
                    e.run(where, ["git", "status"])
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for section in sections:
            turn = number % len(environments)
            for e in environments[turn:] + environments[:turn] + extra.get(section, []):
                where = data[section, e.name]
                if section in ALONE:
                    continue
                warm(where)
                out = e.run(where, ["/usr/bin/python3", "-B", ".bench/driver.py", ".bench/work", section])
                for line in out.splitlines():
                    row, seconds = line.split()
                    times.setdefault(row, {}).setdefault(e.name, []).append(float(seconds))
            if section == "start" and not options.no_guarded:
                for name, seconds in start_rows(options.build, data["start", "guarded"]).items():
                    times.setdefault("start", {}).setdefault(name, []).append(1000 * seconds)
            if section == "policy":
                for name, seconds in policy_rows(options.build).items():
                    times.setdefault("policy", {}).setdefault(name, []).append(seconds)
            if section == "trail":
                for name, value in trail_rows(options.build, data["trail", "native"], options.records).items():
                    times.setdefault("trail", {}).setdefault(name, []).append(value)
            if section == "sessions":
                for name, value in sessions_rows(options.build, data[section, "native"], options.sessions).items():
                    times.setdefault(section, {}).setdefault(name, []).append(value)
            if section == "replay" and not options.no_guarded and os.geteuid() == 0:
                for name, value in replay.rows(options.build, data["replay", "native"]).items():
                    times.setdefault("replay", {}).setdefault(name, []).append(value)
            if section in SCRIPTS and not options.no_guarded:
                for name, value in script_rows(section, options.build, data[section, "guarded"]).items():
                    times.setdefault(section, {}).setdefault(name, []).append(value)
            if section == "net" and not options.no_guarded and os.geteuid() == 0:
                for name, value in net_rows(options.build, data["net", "native"]).items():
                    times.setdefault("net", {}).setdefault(name, []).append(value)
    return times, {e.name: e.transport for e in environments if isinstance(e, Guarded)}


def machine():
    with open("/proc/loadavg", encoding="ascii") as f:
        load = float(f.read().split()[0])
    cpus = len(os.sched_getaffinity(0))
    return {"kernel": platform.release(), "cpus": cpus, "load": load, "quiet": load < 0.3 * cpus,
            "root": os.geteuid() == 0}


def table(times, wanted):
    """Prints the rows; returns them with medians and ratios for --json."""
    result = {}
    names = {name for values in times.values() for name in values}
    columns = [n for n in ("guarded", "io_uring", "review", "rootless", "hostd", "bindfs", "fuse-overlayfs", "bwrap")
               if n in names or n not in ("io_uring", "review", "rootless", "hostd")]
    print(f"{'':34} {'native':>10} " + " ".join(f"{n[-9:]:>9}" for n in columns)
          + f" {'to reach':>9}")
    for row in wanted:
        if row not in times or row in ALONE:
            continue
        median = {name: statistics.median(v) for name, v in times[row].items()}
        ratio = {n: m / median["native"] for n, m in median.items() if n != "native"}
        result[row] = {"median": median, "ratio": ratio, "rounds": times[row]}
        shown = [f"{ratio[n]:.2f}" if n in ratio else "–" for n in columns]
        goal = ROWS[row][2]
        print(f"{ROWS[row][1]:34} {median['native']:8.4f} s " +
              " ".join(f"{s:>9}" for s in shown) + f" {'≤ ' + str(goal) if goal else '':>9}")
    if "rootless" in names:
        said = [f"{ROWS[row][1]} {r['ratio']['rootless']:.2f}" for row, r in result.items()
                if "rootless" in r["ratio"] and r["ratio"]["rootless"] > ROOTLESS.get(
                    row, 2 * r["ratio"].get("guarded", 0))]
        print("rootless, to reach: first reads ≤ 3, later ones ≤ 1.1, the rest within twice of root's"
              + (": above that " + ", ".join(said) if said else ": reached"))
    staged = {row: r["median"]["review"] / r["median"]["guarded"] for row, r in result.items()
              if "review" in r["median"] and "guarded" in r["median"]}
    if staged:
        print("review against the same guard without it: " + ", ".join(
            f"{ROWS[row][1]} {ratio:.2f}" + (f" (to reach: ≤ {REVIEW[row]})" if row in REVIEW else "")
            for row, ratio in staged.items()))
    for row, without, what, goal in LESS:
        if row in result and without in times[row]:
            median = result[row]["median"]
            cost = 100 * (median["guarded"] / median[without] - 1)
            print(f"{what} cost {ROWS[row][1]} {cost:.1f} % (to reach: ≤ {goal} %)")
    if "start" in times:
        median = {name: statistics.median(v) for name, v in times["start"].items()}
        result["start"] = {"median_ms": median, "rounds": times["start"]}
        print("start of `true`, median ms: " +
              ", ".join(f"{n} {median[n]:.1f}" for n in sorted(median) if n != "probes") + " (to reach: ≤ 12)")
        if "probes" in median:
            print(f"probes before the command, all together, and what they are made behind: "
                  f"{median['probes']:.1f} ms (to reach: ≤ 3)")
    if "policy" in times:
        median = {name: statistics.median(v) for name, v in times["policy"].items()}
        result["policy"] = {"median": median, "rounds": times["policy"]}
        step = [median[f"step-{n}"] * 1e9 for n in (10, 1000, 10000)]
        print(f"policy of 10, 1,000, 10,000 rules: a step takes {step[0]:.0f}, {step[1]:.0f}, "
              f"{step[2]:.0f} ns (to reach: ≤ 100, within 1.5 of each other: "
              f"{max(step) / min(step):.2f}); 10,000 compile in "
              f"{median['compile-10000'] * 1e3:.0f} ms (to reach: < 100)")
        more = (median["decide-1000"] - median["decide-0"]) * 1e9
        refused = (median["refuse-1000"] - median["refuse-0"]) * 1e9
        print(f"1,000 live grants add {more:+.1f} ns to a decision that the rules allow, and {refused:+.1f} ns "
              f"to one of {median['refuse-0'] * 1e9:.0f} ns that they refuse (to reach: ≤ 5)")
    if "trail" in times:
        median = {name: statistics.median(v) for name, v in times["trail"].items()}
        result["trail"] = {"median": median, "rounds": times["trail"]}
        print(f"trail: {median['writer-records-per-s']:,.0f} records in a second of the writer's "
              f"CPU, from a ring to disk (to reach: ≥ 300,000; {median['records-per-s']:,.0f} by "
              f"the clock), {median['bytes-per-record']:.0f} bytes a record (≤ 450); verified in "
              f"a second of CPU: with the root key {median['verify-MB-per-s']:.0f} MB, with a public key "
              f"{median['verify-public-MB-per-s']:.0f} MB (≥ 250)")
        print(f"index: {median['indexed-per-s']:,.0f} records in a second of CPU (≥ 200,000), a "
              f"question about one file among {median['records']:,.0f}: {median['question-ms']:.0f} ms (< 100)")
        print(f"compressed: {median['packed-bytes-per-record']:.1f} bytes a record (≤ 60), in a second of "
              f"CPU {median['packed-MB-per-s']:.0f} MB; verified {median['verify-packed-MB-per-s']:.0f} MB")
    if "sessions" in times:
        median = {name: statistics.median(v) for name, v in times["sessions"].items()}
        result["sessions"] = {"median_ms": median, "rounds": times["sessions"]}
        print(f"questions over {median['sessions']:,.0f} sessions, ms of CPU (to reach: < 100): " +
              ", ".join(f"{name} {median[name]:.0f}" for name in QUESTIONS))
    if "replay" in times:
        median = {name: statistics.median(v) for name, v in times["replay"].items()}
        result["replay"] = {"median": median, "rounds": times["replay"]}
        print(replay.said(median))
    if "container" in times:
        median = {name: statistics.median(v) for name, v in times["container"].items()}
        result["container"] = {"median_ms": median, "rounds": times["container"]}
        print("start of `true` in containers, median ms: " +
              ", ".join(f"{name} {value:.1f}" for name, value in median.items()))
    if "ask" in times:
        median = {name: statistics.median(v) for name, v in times["ask"].items()}
        result["ask"] = {"median_ms": median, "rounds": times["ask"]}
        print(f"question on the screen, median ms: {median['watch']:.0f} with `approve --watch`, "
              f"{median['panel']:.0f} in the panel; its answer acts after {median['approve']:.0f} by "
              f"`approve QUESTION once`, {median['key']:.0f} by a key of the panel (to reach: ≤ 50)")
    if "tasks" in times:
        median = {name: statistics.median(v) for name, v in times["tasks"].items()}
        result["tasks"] = {"median_ms": median, "rounds": times["tasks"]}
        print("100 tasks, 8 at a time, median ms: " +
              ", ".join(f"{name} {value:.1f}" for name, value in median.items()))
    if "review" in times:
        m = {name: statistics.median(v) for name, v in times["review"].items()}
        result["review"] = {"median": m, "rounds": times["review"]}
        print(review.said(m))
    if "image" in times:
        median = {name: statistics.median(v) for name, v in times["image"].items()}
        result["image"] = {"median_ms": median, "rounds": times["image"]}
        print("image, median ms: " + ", ".join(f"{n} {v:.1f}" for n, v in sorted(median.items())) +
              " (to reach: start-image within 3 of start-restricted)")
    if "wasm" in times:
        median = {name: statistics.median(v) for name, v in times["wasm"].items()}
        result["wasm"] = {"median_ms": median, "rounds": times["wasm"]}
        print("mode wasm, median ms: " + ", ".join(f"{n} {v:.1f}" for n, v in sorted(median.items())) +
              " (to reach: start-wasm within 5 of start-restricted)")
    if "net" in times:
        median = {name: statistics.median(v) for name, v in times["net"].items()}
        result["net"] = {"median": median, "rounds": times["net"]}
        print(f"network: mode = allowlist adds "
              f"{1000 * (median['start-allowlist'] - median['start-none']):.1f} ms to a start (to reach: "
              f"≤ 3); one stream has {100 * median['stream-direct'] / median['stream-guarded']:.0f} % of "
              f"direct loopback (≥ 60 %), short connections take "
              f"{median['short-guarded'] / median['short-direct']:.2f} times direct ones (≤ 3); "
              f"wardfs-net with 1,000 streams that nobody reads: {median['many-MB']:.0f} MB (≤ 64)")
    elif "net" in wanted:
        print("network: needs root, and the guard: not measured")
    for peer in PEERS:
        if not shutil.which(peer.name):
            print(f"{peer.name} is not installed.")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "../../build"))
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    parser.add_argument("--rows", help="these alone: " + ", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records", type=int, default=RECORDS, metavar="N",
                        help="trail: so many (10,000,000 take some minutes and 8 GB)")
    parser.add_argument("--sessions", type=int, default=100_000, metavar="N",
                        help="sessions: so many (100,000 take two minutes and 1 GB)")
    parser.add_argument("--no-peers", action="store_true", help="without "
                        + " and ".join(peer.name for peer in PEERS))
    parser.add_argument("--uring", action="store_true", help="guarded twice: with FUSE over io_uring "
                        "forbidden and allowed on this host meanwhile (root)")
    parser.add_argument("--rootless", action="store_true", help="also as an ordinary user (root: "
                        "becomes one)")
    parser.add_argument("--hostd", action="store_true", help="as an ordinary user whose host has "
                        "wardfs-hostd (root: becomes one)")
    parser.add_argument("--review", action="store_true", help="also with changes staged (run --review)")
    parser.add_argument("--no-guarded", action="store_true", help="the bench itself, without wardfs")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    wanted = options.rows.split(",") if options.rows else list(ROWS)
    if not shutil.which("npm"):
        wanted = [row for row in wanted if row != "npm-ci"]
    for row in [row for row in wanted if row in ROWS and workloads.missing(ROWS[row][0])]:
        print(f"{row}: {workloads.missing(ROWS[row][0])}", file=sys.stderr)
        wanted.remove(row)
    unknown = [row for row in wanted if row not in ROWS]
    if unknown or options.rounds < 1:
        parser.error(f"no row is called {unknown[0]}" if unknown else "--rounds is at least 1")
    sections = list(dict.fromkeys(ROWS[row][0] for row in wanted))
    before = machine()
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="wardfs-bench.",
                                                dir=os.environ.get("TMPDIR", "/var/tmp")))
    os.chmod(scratch, 0o755)
    os.umask(0o022)
    for key in [k for k in os.environ if k.startswith(("GIT_", "WARDFS_"))]:
        del os.environ[key]
    for name in ("state", "config"):
        os.environ[f"XDG_{name.upper()}_HOME"] = os.path.join(scratch, name)
        os.mkdir(os.path.join(scratch, name), 0o700)
    try:
        times, transports = measure(options, scratch, sections)
    except subprocess.CalledProcessError as error:
        sys.exit(f"bench: {' '.join(map(str, error.cmd))}: exit status {error.returncode}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"Linux {before['kernel']}, {before['cpus']} CPUs, load {before['load']:.2f} before: "
          + ("quiet" if before["quiet"] else "NOT quiet, do not trust the figures"))
    for name, transport in transports.items():
        print(f"{name}: requests came by {transport or '–'}")
    print(f"time as a ratio to native, median of {options.rounds} interleaved rounds")
    rows = table(times, wanted)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"machine": before, "rounds": options.rounds, "transports": transports,
                       "rows": rows}, f, indent=1)
            f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
