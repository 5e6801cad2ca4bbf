#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py [--build DIR] [--json FILE] [--rows NAME,...] [--rounds N]: guarded against native.

Every environment has its own copy of the same data on the same file system, warm in the page cache.
"cold" means a mount that was just made. The rounds are interleaved: each section runs natively, on
bindfs (where installed) and in a session, in changing order, then the next round begins. A ratio is
that of the medians. Nothing here passes or fails.
"""
import argparse
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

HERE = os.path.dirname(os.path.abspath(__file__))
# Row: (section, what it is called in the table, the ratio to reach as root on a quiet machine).
ROWS = {
    "find-cold": ("find", "find, cold", 2.2),
    "find-warm": ("find", "find, warm", None),
    "open-cold": ("open", "open+read+close 10k, cold", None),
    "open-warm": ("open", "open+read+close 10k, warm", 10),
    "git-status-cold": ("git-status", "git status 20k, cold", None),
    "git-status-warm": ("git-status", "git status 20k, warm", None),
    "tar-x": ("tar", "tar -x 4k", 1.8),
    "rm-r": ("tar", "rm -r 4k", 6),
    "read-seq": ("io", "read, sequential", 1.1),
    "read-rand": ("io", "read, 4 KiB random", 1.1),
    "write-seq": ("io", "write, sequential", None),
    "write-rand": ("io", "write, 4 KiB random", None),
    "c-build": ("c-build", "C build", 1.05),
    "sqlite": ("sqlite", f"sqlite, {driver.INSERTS} inserts", None),
    "start": ("start", "start of `-- true`, ms", None),
    "policy": ("policy", "policy of 10, 1,000, 10,000 rules", None),
    "trail": ("trail", "records to disk, verification", None),
}
STARTS = 5  # a round
RECORDS = 300000
# Rows that are no ratio to native.
ALONE = ("start", "policy", "trail")
IO_BYTES = 192 << 20
SQL = ("PRAGMA synchronous=OFF;\nCREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);\n" +
       "".join(f"INSERT INTO t(b) VALUES('row number {i}');\n" for i in range(driver.INSERTS)))


def quiet(*argv, **how):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)


# --- the data ---

def small_files(top, dirs, files):
    for d in range(dirs):
        os.makedirs(f"{top}/{d}")
        for f in range(files):
            with open(f"{top}/{d}/{f}", "w", encoding="ascii") as out:
                out.write(f"{d} {f}\n" * 64)


def make_project(where, units=40):
    """A C project: every unit includes what real ones do, and one header of its own."""
    os.mkdir(f"{where}/src")
    with open(f"{where}/src/all.h", "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n"
                + "".join(f"int unit{i}(int x);\n" for i in range(units)))
    for i in range(units):
        with open(f"{where}/src/unit{i}.c", "w", encoding="ascii") as f:
            f.write('#include "all.h"\n')
            for j in range(60):
                f.write(f"static int f{j}(int x) {{ char b[64]; int n = snprintf(b, sizeof b, "
                        f'"%d", x * {j}); return n > 3 ? (int)strlen(b) : x + {i}; }}\n')
            f.write(f"int unit{i}(int x) {{ int s = 0;\n" +
                    "".join(f"s += f{j}(x);\n" for j in range(60)) + "return s; }\n")
    with open(f"{where}/src/main.c", "w", encoding="ascii") as f:
        f.write('#include "all.h"\nint main(void) { int s = 0;\n' +
                "".join(f"s += unit{i}({i});\n" for i in range(units)) +
                'printf("%d\\n", s); return 0; }\n')
    with open(f"{where}/Makefile", "w", encoding="ascii") as f:
        f.write("O := $(patsubst %.c,%.o,$(wildcard src/*.c))\nCFLAGS = -O1\nall: $(O)\n"
                "\t$(CC) -o prog $(O)\nclean:\n\trm -f $(O) prog\n")


def prepare(section, where):
    os.makedirs(where)
    if section == "open":
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
    elif section == "io":
        with open(f"{where}/data", "wb") as f:
            for _ in range(IO_BYTES >> 20):
                f.write(os.urandom(1 << 20))
    elif section == "c-build":
        make_project(where)
    elif section == "sqlite":
        with open(f"{where}/insert.sql", "w", encoding="ascii") as f:
            f.write(SQL)


def warm(where):
    """Reads the backing as a whole: what is measured is the guard, not the disk."""
    quiet("sh", "-c", 'find "$1" -type f -size +0 -exec cat {} + | cat', "sh", where)


# --- the environments ---

class Native:
    name = "native"

    def run(self, where, argv):
        return subprocess.run(argv, cwd=where, check=True, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout


class Bindfs:
    name = "bindfs"

    def __init__(self, scratch):
        self.point = os.path.join(scratch, "mnt")
        os.makedirs(self.point)

    def run(self, where, argv):
        quiet("bindfs", where, self.point)
        try:
            return Native().run(self.point, argv)
        finally:
            for _ in range(100):
                if subprocess.run(["umount", self.point], stderr=subprocess.DEVNULL,
                                  check=False).returncode == 0:
                    break
                time.sleep(0.05)


class Guarded:
    name = "guarded"

    def __init__(self, build):
        self.wardfs = os.path.join(build, "wardfs")

    def run(self, where, argv):
        return Native().run(where, [self.wardfs, "run", "--"] + argv)


BWRAP = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr",
         "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
         "/lib64", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs",
         "/tmp", "--tmpfs", "/run", "--bind", ".", "/workspace", "--cap-drop", "ALL", "--"]


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
    return {name: statistics.median(values) for name, values in times.items()}


def policy_rows(build):
    """Seconds to compile and to step, by number of rules; nothing of it is guarded or native."""
    out = Native().run(build, [f"{build}/tests/bench/bench_policy"])
    return {name: float(seconds) for name, seconds in map(str.split, out.splitlines())}


def seconds_of(*argv):
    """Wall clock, and processor time with that of its children: other load does not count in it."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    quiet(*argv)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (time.monotonic() - began,
            after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def trail_rows(build, where):
    """Records a second from a ring to disk, bytes a record, MB a second of verification."""
    state = os.path.join(where, "state")
    shutil.rmtree(state, ignore_errors=True)
    wall, cpu = seconds_of(f"{build}/tests/support/auditrun", "--program", f"{build}/wardfs-audit",
                           "--state", state, "--session", "bench", "--events", str(RECORDS))
    log = f"{state}/sessions/bench/trail.jsonl"
    size = os.path.getsize(log)
    key = subprocess.run([f"{build}/wardfs", "audit", "key", "show", "--state", state], check=True,
                         stdout=subprocess.PIPE, encoding="ascii").stdout.strip()
    result = {"records-per-s": RECORDS / wall, "us-per-record": cpu / RECORDS * 1e6,
              "bytes-per-record": size / RECORDS}
    for name, argv in ("verify", ["bench", "--state", state]), ("verify-public", ["--key", key, log]):
        cpu = seconds_of(f"{build}/wardfs", "audit", "verify", *argv)[1]
        result[f"{name}-MB-per-s"] = size / 1e6 / cpu
    audit = [f"{build}/wardfs", "audit"]
    cpu = seconds_of(*audit, "index", "--state", state)[1]
    result["indexed-per-s"] = RECORDS / cpu
    question = "SELECT count(*) FROM records WHERE path = '/workspace/t0-777'"
    result["question-ms"] = 1000 * seconds_of(*audit, "sql", question, "--state", state)[0]
    return result


# --- the measurement ---

def measure(options, scratch, sections):
    environments = [Native()]
    if shutil.which("bindfs") and not options.no_bindfs:
        environments.append(Bindfs(scratch))
    if not options.no_guarded:
        environments.append(Guarded(options.build))
    times = {}
    data = {}
    for section in sections:
        for e in environments:
            data[section, e.name] = where = os.path.join(scratch, e.name, section)
            prepare(section, where)
            if section not in ALONE:
                shutil.copy(os.path.join(options.build, "tests/bench/bench_work"), where + "/.work")
                shutil.copy(os.path.join(HERE, "driver.py"), where + "/.driver.py")
                if section == "git-status":
                    # The index keeps what stat said; each environment's is its own.
                    with open(where + "/.git/info/exclude", "a", encoding="ascii") as f:
                        f.write("/.work\n/.driver.py\n")
                    e.run(where, ["git", "status"])
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for section in sections:
            turn = number % len(environments)
            for e in environments[turn:] + environments[:turn]:
                where = data[section, e.name]
                if section in ALONE:
                    continue
                warm(where)
                out = e.run(where, ["/usr/bin/python3", ".driver.py", "./.work", section])
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
                for name, value in trail_rows(options.build, data["trail", "native"]).items():
                    times.setdefault("trail", {}).setdefault(name, []).append(value)
    return times


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
    print(f"{'':28} {'native':>10} {'guarded':>9} {'bindfs':>9} {'to reach':>9}")
    for row in wanted:
        if row not in times or row in ALONE:
            continue
        median = {name: statistics.median(v) for name, v in times[row].items()}
        ratio = {n: m / median["native"] for n, m in median.items() if n != "native"}
        result[row] = {"median": median, "ratio": ratio, "rounds": times[row]}
        shown = [f"{ratio[n]:.2f}" if n in ratio else "–" for n in ("guarded", "bindfs")]
        goal = ROWS[row][2]
        print(f"{ROWS[row][1]:28} {median['native']:8.4f} s {shown[0]:>9} {shown[1]:>9} "
              f"{'≤ ' + str(goal) if goal else '':>9}")
    if "start" in times:
        median = {name: statistics.median(v) for name, v in times["start"].items()}
        result["start"] = {"median_ms": median, "rounds": times["start"]}
        print("start of `true`, median ms: " +
              ", ".join(f"{n} {median[n]:.1f}" for n in sorted(median)) + " (to reach: ≤ 25)")
    if "policy" in times:
        median = {name: statistics.median(v) for name, v in times["policy"].items()}
        result["policy"] = {"median": median, "rounds": times["policy"]}
        step = [median[f"step-{n}"] * 1e9 for n in (10, 1000, 10000)]
        print(f"policy of 10, 1,000, 10,000 rules: a step takes {step[0]:.0f}, {step[1]:.0f}, "
              f"{step[2]:.0f} ns (to reach: ≤ 100, within 1.5 of each other: "
              f"{max(step) / min(step):.2f}); 10,000 compile in "
              f"{median['compile-10000'] * 1e3:.0f} ms (to reach: < 100)")
    if "trail" in times:
        median = {name: statistics.median(v) for name, v in times["trail"].items()}
        result["trail"] = {"median": median, "rounds": times["trail"]}
        print(f"trail: {median['records-per-s']:,.0f} records/s from a ring to disk (to reach: "
              f"≥ 300,000), {median['us-per-record']:.2f} µs of CPU for producer and writer, "
              f"{median['bytes-per-record']:.0f} bytes a record (≤ 450); verified in "
              f"a second of CPU: with the root key {median['verify-MB-per-s']:.0f} MB, with a public key "
              f"{median['verify-public-MB-per-s']:.0f} MB (≥ 250)")
        print(f"index: {median['indexed-per-s']:,.0f} records in a second of CPU (≥ 200,000), a "
              f"question about one file among {RECORDS:,}: {median['question-ms']:.0f} ms (< 100)")
    if "bindfs" not in names:
        print("bindfs is not installed or not used.")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "../../build"))
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    parser.add_argument("--rows", help="these alone: " + ", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-bindfs", action="store_true")
    parser.add_argument("--no-guarded", action="store_true", help="the bench itself, without wardfs")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    wanted = options.rows.split(",") if options.rows else list(ROWS)
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
        times = measure(options, scratch, sections)
    except subprocess.CalledProcessError as error:
        sys.exit(f"bench: {' '.join(map(str, error.cmd))}: exit status {error.returncode}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"Linux {before['kernel']}, {before['cpus']} CPUs, load {before['load']:.2f} before: "
          + ("quiet" if before["quiet"] else "NOT quiet, do not trust the figures"))
    print(f"time as a ratio to native, median of {options.rounds} interleaved rounds")
    rows = table(times, wanted)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"machine": before, "rounds": options.rounds, "rows": rows}, f, indent=1)
            f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
