#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py [--build DIR] [--json FILE] [--rows NAME,...] [--rounds N] [--uring] [--rootless] [--hostd] [--review] [--one-cpu]: guarded against native.

Every environment has its own copy of the same data on the same file system, warm in the page cache.
"cold" means a mount that was just made. The rounds are interleaved: each section runs natively, on
its peers (bindfs, fuse-overlayfs and bubblewrap, where installed) and in a session, in changing
order, then the next round begins. A ratio is that of the medians. Nothing here passes or fails.
"""
import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import driver
import engines
import projects
import replay
import starts
import workloads
from environments import (PEERS, POLICY, Denials, Engine, Guarded, Hosted, Native, Reviewed, Rootless,
                          Unwatched, quiet)
from tables import ALONE, QUESTIONS, ROWS, table

HERE = os.path.dirname(os.path.abspath(__file__))
FREE = "[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = none\n"
QUOTA = "[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = 4G\n"
RECORDS = 300000
IO_BYTES = 192 << 20


def inserts(n, synchronous):
    """Each is a transaction. FULL is sqlite's default."""
    return (f"PRAGMA synchronous={synchronous};\nCREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);\n" +
            "".join(f"INSERT INTO t(b) VALUES('row number {i}');\n" for i in range(n)))


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


# Rows that a script of this name measures: lines "NAME VALUE".
SCRIPTS = ("container", "weight", "ask", "tasks", "review", "image", "wasm")


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

# How a section that is no ratio to native is measured: what does it, whether that takes root, and
# whether it takes the guard. Its values, or lists of them, go by name.
MEASURED = {
    "start": (lambda o, where: starts.rows(o.build, where, o.rounds), False, True),
    "policy": (lambda o, where: policy_rows(o.build), False, False),
    "trail": (lambda o, where: trail_rows(o.build, where, o.records), False, False),
    "sessions": (lambda o, where: sessions_rows(o.build, where, o.sessions), False, False),
    "replay": (lambda o, where: replay.rows(o.build, where), True, True),
    "net": (lambda o, where: net_rows(o.build, where), True, True),
    **{name: (lambda o, where, name=name: script_rows(name, o.build, where), False, True) for name in SCRIPTS},
}


def environments_of(options, scratch):
    """Those of each section, and more of some."""
    result = [Native()]
    result += [peer(scratch) for peer in PEERS if shutil.which(peer.name) and not options.no_peers]
    if options.uring:
        result.append(Guarded(options.build, allowed="N"))
        result.append(Guarded(options.build, "io_uring", "Y"))
    elif not options.no_guarded:
        result.append(Guarded(options.build))
    if options.review:
        result.append(Reviewed(options.build))
    if options.rootless:
        result.append(Rootless(options.build, scratch))
    if options.hostd:
        result.append(Hosted(options.build, scratch))
    if options.engines:
        result += [Engine(options.build, e) for e in engines.SHARING if shutil.which(e)]
        result += engines.runtimes(options.build, scratch)
    extra = {}
    if not options.no_guarded and not options.uring:
        extra = {section: [Denials(options.build)] for section in ("open", "c-build")}
    if not options.no_guarded and not os.geteuid():
        extra["tar"] = [Unwatched(options.build)]
    return result, extra


def make_data(options, section, e, where):
    prepare(section, where)
    os.mkdir(where + "/.bench")
    shutil.copy(os.path.join(options.build, "tests/bench/bench_work"), where + "/.bench/work")
    for name in ("driver.py", "workloads.py"):
        shutil.copy(os.path.join(HERE, name), where + "/.bench")
    if section == "git-status":
        # The index keeps what stat said; each environment's is its own.
        with open(where + "/.git/info/exclude", "a", encoding="ascii") as f:
            f.write("/.bench\n")
        e.run(where, ["git", "status"])


def one_round(section, environments, data):
    """Pairs of a row and an environment, with seconds."""
    for e in environments:
        warm(data[section, e.name])
        out = e.run(data[section, e.name],
                    ["/usr/bin/python3", "-B", ".bench/driver.py", ".bench/work", section])
        for line in out.splitlines():
            row, seconds = line.split()
            yield row, e.name, float(seconds)


def measure(options, scratch, sections):
    environments, extra = environments_of(options, scratch)
    times, data = {}, {}
    for section in sections:
        if section in ALONE:
            data[section] = os.path.join(scratch, "alone", section)
            prepare(section, data[section])
            continue
        for e in environments + extra.get(section, []):
            data[section, e.name] = where = os.path.join(scratch, e.name, section)
            make_data(options, section, e, where)
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        turn = number % len(environments)
        for section in sections:
            if section in ALONE:
                rows, root, guard = MEASURED[section]
                if (root and os.geteuid() != 0) or (guard and options.no_guarded):
                    continue
                found = ((section, name, value) for name, value in rows(options, data[section]).items())
            else:
                found = one_round(section, environments[turn:] + environments[:turn] + extra.get(section, []), data)
            for row, name, value in found:
                many = value if isinstance(value, list) else [value]
                times.setdefault(row, {}).setdefault(name, []).extend(many)
    return times, {e.name: e.transport for e in environments if isinstance(e, Guarded)}


def file_system(where):
    """Where the data lies. ext4 without a journal passes by each inode that was removed in the last minute, one
    after the other, before it finds one for a new file: the more was removed there, the slower files are made."""
    device = os.stat(where).st_dev
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            words = line.split()
            if words[2] == f"{os.major(device)}:{os.minor(device)}":
                kind, source = words[words.index("-") + 1:][:2]
                disk = os.path.basename(os.path.realpath(source))
                # jbd2 has one of these for each journal; 8 is the inode of an inner one.
                bare = kind == "ext4" and not os.path.exists(f"/proc/fs/jbd2/{disk}-8")
                return kind + " without a journal" * bare
    return "?"


def machine():
    with open("/proc/loadavg", encoding="ascii") as f:
        load = float(f.read().split()[0])
    cpus = len(os.sched_getaffinity(0))
    return {"kernel": platform.release(), "cpus": cpus, "load": load, "quiet": load < 0.3 * cpus,
            "root": os.geteuid() == 0}


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
    parser.add_argument("--engines", action="store_true", help="also in a container of each engine, and under "
                        "wardfs-oci (root)")
    parser.add_argument("--review", action="store_true", help="also with changes staged (run --review)")
    parser.add_argument("--one-cpu", action="store_true", help="as on a machine with one CPU: everything is kept "
                        "on one of this machine's (sched_setaffinity(2))")
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
    if options.one_cpu:
        # All that the bench starts inherits it.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        before["cpus"], before["one_cpu"] = 1, True
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="wardfs-bench.",
                                                dir=os.environ.get("TMPDIR", "/var/tmp")))
    os.chmod(scratch, 0o755)
    before["file_system"] = file_system(scratch)
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
    print(f"Linux {before['kernel']}, {before['cpus']} CPU{'s'[:before['cpus'] > 1]}, {before['file_system']}, "
          f"load {before['load']:.2f} before: "
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
