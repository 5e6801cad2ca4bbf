#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--build DIR] [--sanitized DIR] [OPTION]... [SUITE|NAME]...: the test runner.

Suites: unit    programs build/tests/unit/*
        cases   tests/cases/AREA/*.sh        the programs from end to end
        escape  tests/escape/*.sh            attempts to break out
        machine tests/machine/*.sh           what only booted machines have: tests/vm starts these
        agents  tests/agents/*.sh            days of real agents; only with WARD_AGENTS, where they are
        fuzz    programs build/tests/fuzz/*  replay tests/fuzz/corpus/NAME
        static  tests/static/*.sh, *.py      the sources themselves

A test passes with exit status 0 and skips with 77, which is a failure where CI=true or
WARD_NO_SKIP=1. It gets WARD_BUILD and WARD_SRC (for cases and escape: where every uid can enter, so
perhaps copies, of the programs alone), WARD_BUILD_TREE (the whole build directory, perhaps for root
alone), WARD_TMP (fresh, its own, on a real file system; also the current directory), WARD_LONG=1
with --long, and a HOME and XDG directories below WARD_TMP.
Comment lines of a script steer it:

    # serial          nothing runs beside it
    # timeout: 900    seconds (else 300; programs 900): ends what hangs, so generous
    # plain           sanitized as well only with --long: another case does the same, there too
    # suites: tsan    also part of a --tsan run, which else has the unit and fuzz suites only

Whatever a test leaves behind (a process, a mount, a cgroup) makes it fail and is removed. The last
line of the output is "N passed, N failed", with ", N skipped" where there are any.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time

SRC = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = ("static", "unit", "fuzz", "cases", "escape", "machine", "agents")
SKIP = 77
TIMEOUT = 300
# A program tells no time of its own. How often a test of libcheck may have what is written beside
# it, and the whole program what a script has.
PROGRAMS = 3
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OUTPUT_SHOWN = 64 * 1024
# With --again: so many failed cases get a second try, alone. More are no accident of the load.
AGAIN = 3
SLOWEST = 2  # tests that are listed at the end, where there are more
# A segment of a trail, the gap that is looked for in it, and how far.
TRAIL = re.compile(r"trail(\.\d+)?\.jsonl")
REFUSED = re.compile(rb"a record of kind [a-z.]+ came from ring \d+ with \w+, which is no member of its kind")
TRAIL_READ = 64 << 20
# Variables that would make a test depend on who runs it.
FOREIGN = re.compile(r"^(GIT_|XDG_|WARD_|WARDFS_|SUDO_|ASAN_|LSAN_|TSAN_|UBSAN_|MESON|NINJA|LC_|"
                     r"CK_|MAKE|HOME$|LANG|TMPDIR$|PATH$|PWD$|OLDPWD$|NO_COLOR$|TERM$|MFLAGS$)")


class Test:
    """One program or script, and what its comment lines ask for."""

    def __init__(self, build, suite, name, argv):
        self.build, self.suite, self.name, self.argv = build, suite, name, argv
        self.note = ""
        self.tsan = suite in ("unit", "fuzz")
        self.serial, self.timeout = False, TIMEOUT * (PROGRAMS if self.tsan else 1)
        self.plain = False
        if argv[-1].endswith((".sh", ".py")):
            with open(argv[-1], encoding="utf-8", errors="replace") as f:
                head = f.read(8192)
            self.serial = re.search(r"^# serial\b", head, re.M) is not None
            self.tsan = re.search(r"^# suites:.*\btsan\b", head, re.M) is not None
            self.plain = re.search(r"^# plain$", head, re.M) is not None
            found = re.search(r"^# timeout: (\d+)", head, re.M)
            if found:
                self.timeout = int(found.group(1))


def programs(directory):
    """The executables in a directory of the build."""
    if not os.path.isdir(directory):
        return
    for entry in sorted(os.listdir(directory)):
        path = os.path.join(directory, entry)
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode) and mode & 0o111 and not entry.endswith((".sh", ".py")):
            yield entry, path


def scripts(directory, pattern):
    """(name, path) of the scripts below a directory. Folders called lib hold no tests."""
    for where, folders, files in os.walk(directory):
        folders[:] = sorted(f for f in folders if f != "lib")
        for file in sorted(files):
            if re.search(pattern, file):
                path = os.path.join(where, file)
                yield os.path.relpath(path, directory).rsplit(".", 1)[0], path


def discover(build):
    tests = []
    for name, path in programs(os.path.join(build, "tests/unit")):
        tests.append(Test(build, "unit", name.removeprefix("unit_"), [path]))
    for name, path in programs(os.path.join(build, "tests/fuzz")):
        name = name.removeprefix("fuzz_")
        corpus = os.path.join(SRC, "tests/fuzz/corpus", name)
        tests.append(Test(build, "fuzz", name, [path, corpus]))
    # Where the agents are installed says bootstrap, and which machine this is, tests/vm.
    more = tuple(suite for suite, given in (("machine", "WARD_MACHINE"), ("agents", "WARD_AGENTS"))
                 if given in os.environ)
    for suite in ("cases", "escape") + more:
        for name, path in scripts(os.path.join(SRC, "tests", suite), r"^[^.].*\.sh$"):
            tests.append(Test(build, suite, name, ["/bin/sh", path]))
    for name, path in scripts(os.path.join(SRC, "tests/static"), r"^[^_.].*\.(sh|py)$"):
        shell = "/bin/sh" if path.endswith(".sh") else "/usr/bin/python3"
        if name != "tidy" or "WARD_TIDY" in os.environ:
            tests.append(Test(build, "static", name, [shell, path]))
    order = {suite: i for i, suite in enumerate(SUITES)}
    return sorted(tests, key=lambda t: (order[t.suite], t.name))


def discover_all(options):
    """The tests of the build; and of the sanitized one, which does not check the sources again."""
    tests = discover(os.path.abspath(options.build))
    if options.sanitized:
        for test in discover(os.path.abspath(options.sanitized)):
            if test.suite != "static" and (options.long or not test.plain):
                test.note = " (sanitized)"
                tests.append(test)
    return tests


def choose(tests, wanted):
    """The tests that the words of the command line name: a suite, suite/name, name or its start."""
    if not wanted:
        return tests
    chosen = []
    for word in wanted:
        word = re.sub(r"^(\./)?tests/", "", word)
        word = re.sub(r"\.(sh|py|c)$", "", word).rstrip("/")
        found = [t for t in tests if word in (t.suite, t.name, f"{t.suite}/{t.name}")
                 or f"{t.suite}/{t.name}".startswith(word + "/") or t.name.startswith(word + "/")]
        if not found:
            sys.exit(f"run.py: no suite and no test is called '{word}' (see --list)")
        chosen += [t for t in found if t not in chosen]
    return chosen


def file_system(path):
    """The type of the file system that a path is on."""
    path, best = os.path.realpath(path), ("", "")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        for line in f:
            fields = line.split()
            point = fields[4].encode().decode("unicode_escape")
            inside = path == point or path.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best[0]):
                best = (point, fields[fields.index("-") + 1])
    return best[1]


def scratch_base(build):
    """A directory for scratch directories: on a real file system, one that every uid can enter."""
    named = os.environ.get("WARD_TEST_DIR")
    places = [named] if named else [os.environ.get("TMPDIR"), "/var/tmp", "/tmp", build]
    # Real paths: what a program calls its directory is compared with what a test calls it.
    places = [os.path.realpath(p) for p in places
              if p and os.path.isdir(p) and os.access(p, os.W_OK)]
    for place in places:
        if file_system(place) not in ("tmpfs", "ramfs", "overlay", "fuse"):
            return place
    return places[0]


def reachable(path):
    """Whether any uid can get at path."""
    while path != "/":
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
        path = os.path.dirname(path)
    return True


def stage(build, base, name):
    """(build, source) as tests see them: themselves, or copies that any uid can get at.

    Some tests run the programs as another user, who cannot enter root's home, say.
    """
    if os.geteuid() != 0 or (reachable(os.path.realpath(build)) and reachable(SRC)):
        return build, SRC
    programs_to, sources_to = os.path.join(base, f"build{name}"), os.path.join(base, f"src{name}")
    for folder in (".", "tests/support", "tests/escape"):
        os.makedirs(os.path.join(programs_to, folder), exist_ok=True)
        for entry, path in programs(os.path.join(build, folder)):
            shutil.copy(path, os.path.join(programs_to, folder, entry))
    shutil.copytree(SRC, sources_to, ignore=shutil.ignore_patterns("build*", ".git"))
    return programs_to, sources_to


def environment(test, places, scratch, options):
    env = {k: v for k, v in os.environ.items() if not FOREIGN.match(k)}
    # Hidden, so that they take no name that a test would choose.
    dirs = {"HOME": ".home", "XDG_STATE_HOME": ".state", "XDG_CONFIG_HOME": ".config",
            "XDG_RUNTIME_DIR": ".run", "TMPDIR": ".tmp"}
    for key, name in dirs.items():
        env[key] = os.path.join(scratch, name)
        os.mkdir(env[key], 0o700)
    os.chmod(env["TMPDIR"], 0o1777)
    if test.suite == "agents":
        env["WARD_AGENTS"] = os.environ["WARD_AGENTS"]
    env.update(WARD_BUILD=places[0], WARD_SRC=places[1], WARD_BUILD_TREE=test.build,
               WARD_TMP=scratch, PATH=PATH,
               LANG="C.UTF-8", TERM="xterm", PYTHONDONTWRITEBYTECODE="1", CK_FORK="yes",
               CK_DEFAULT_TIMEOUT=str(280 * options.patience),
               CK_TIMEOUT_MULTIPLIER=str(PROGRAMS),
               # A root run in somebody's checkout: git asks whose it is.
               GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*",
               # Reports go beside the test, since a helper's stderr may go nowhere.
               ASAN_OPTIONS=f"detect_leaks={int(test.suite in ('unit', 'fuzz'))}:exitcode=99:"
                            f"log_path={scratch}/sanitizer/of",
               UBSAN_OPTIONS=f"halt_on_error=1:print_stacktrace=1:log_path={scratch}/sanitizer/of",
               TSAN_OPTIONS=f"exitcode=99:log_path={scratch}/sanitizer/of")
    for name in ("WARD_MACHINE", "WARD_TIDY", "WARD_RESTRICTEDPYTHON"):
        if os.environ.get(name):
            env[name] = os.environ[name]
    if options.long:
        env["WARD_LONG"] = "1"
    return env


def sanitizer_reports(scratch):
    text = ""
    directory = os.path.join(scratch, "sanitizer")
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
        with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as f:
            text += f"--- {name}\n{f.read()}"
    return text


def refused_records(scratch):
    """What the trails of the test say of records with a member that audit/record_kinds.def does not list.

    A producer wrote them whose row lacks a member: the test that came by there may not have noticed.
    """
    text = ""
    for where, _, names in os.walk(scratch):
        for name in names:
            path = os.path.join(where, name)
            if not TRAIL.fullmatch(name) or not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            try:
                with open(path, "rb") as f:
                    found = REFUSED.search(f.read(TRAIL_READ))
            except OSError:
                continue
            if found:
                text += f"--- {ascii(path)}: {found[0].decode('ascii')}\n"
    return text


def run_one(test, base, number, places, options):
    """Runs a test under its keeper. Returns ("passed"|"failed"|"skipped", text, seconds, CPU seconds)."""
    scratch = os.path.join(base, str(number))
    os.mkdir(scratch)
    os.chmod(scratch, 0o755)
    # Helpers run as another user, and have something to say, too.
    os.mkdir(os.path.join(scratch, "sanitizer"))
    os.chmod(os.path.join(scratch, "sanitizer"), 0o1777)
    env = environment(test, places, scratch, options)
    started = time.monotonic()
    output = os.path.join(base, f"{number}.out")
    argv = test.argv
    if options.trace and argv[0] == "/bin/sh":
        argv = [argv[0], "-x", *argv[1:]]
    keeper = [sys.executable, os.path.join(SRC, "tests/keeper.py"), scratch,
              str(test.timeout * options.patience)]
    with open(output, "w+b") as out:
        child = subprocess.Popen(keeper + argv, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=out, cwd=scratch, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        status = child.returncode = os.waitstatus_to_exitcode(status)
        size = out.seek(0, os.SEEK_END)
        out.seek(max(0, size - OUTPUT_SHOWN))
        text = out.read().decode("utf-8", "backslashreplace")
    reports = sanitizer_reports(scratch)
    reports += refused_records(scratch)
    if reports and status in (0, SKIP):
        status = 99
    text += reports
    strict = os.environ.get("CI") == "true" or os.environ.get("WARD_NO_SKIP") == "1"
    if status == 0:
        verdict = "passed"
    elif status == SKIP and not strict:
        verdict = "skipped"
    else:
        verdict = "failed"
        text += f"--- exit status {status}" + (", a skip" if status == SKIP else "") + "\n"
    os.unlink(output)
    if verdict != "failed" or not options.keep:
        subprocess.run(["chmod", "-R", "u+rwX", scratch], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(scratch, ignore_errors=True)
    return verdict, text, time.monotonic() - started, usage.ru_utime + usage.ru_stime


class Report:
    """Prints one line a test, with its output where it failed; counts."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = {"passed": 0, "failed": 0, "skipped": 0}
        self.failures = []
        self.accidents = []  # failed tests that the load may have failed
        self.unsteady = []
        self.took = []  # (seconds, CPU seconds, name)

    def add(self, test, result):
        verdict, text, seconds, cpu = result
        name = f"{test.suite}/{test.name}{test.note}"
        with self.lock:
            self.count[verdict] += 1
            self.took.append((seconds, cpu, name))
            if verdict == "failed":
                self.failures.append(name)
                # A wall that gave way once is no wall, and what a sanitizer saw once is there.
                if test.suite in ("cases", "agents") and not re.search(r"Sanitizer|runtime error:", text):
                    self.accidents.append(test)
            why = ""
            if verdict == "skipped" and text.strip():
                why = ": " + text.strip().splitlines()[-1]
            print(f"{'FAILED' if verdict == 'failed' else verdict:7} {name} {seconds:.1f}s (CPU {cpu:.1f}s){why}")
            if verdict == "failed":
                print("".join(f"    | {line}\n" for line in text.splitlines()), end="")
            sys.stdout.flush()

    def again(self, test, result):
        """The second try of a test that failed beside others. What it printed then stands above."""
        name = f"{test.suite}/{test.name}{test.note}"
        if result[0] == "passed":
            self.count["failed"] -= 1
            self.count["passed"] += 1
            self.failures.remove(name)
            self.unsteady.append(name)
        print(f"second try of {name}, alone: {result[0]}")
        if result[0] != "passed":
            print("".join(f"    | {line}\n" for line in result[1].splitlines()), end="")
        sys.stdout.flush()

    def end(self):
        self.took.sort(reverse=True)
        if len(self.took) > SLOWEST:
            print("the slowest, and how much of that was work of the CPU:")
            for seconds, cpu, name in self.took[:SLOWEST]:
                print(f"{seconds:7.1f}s {cpu:6.1f}s  {name}")
        if self.unsteady:
            print("unsteady, failed once beside others and passed alone: " + " ".join(self.unsteady))
        if self.failures:
            print("failed: " + " ".join(self.failures))
        line = f"{self.count['passed']} passed, {self.count['failed']} failed"
        if self.count["skipped"]:
            line += f", {self.count['skipped']} skipped"
        print(line)
        executed = self.count["passed"] + self.count["failed"]
        return 1 if self.count["failed"] or not executed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(SRC, "build"))
    parser.add_argument("--sanitized", metavar="DIR", help="a second build, with sanitizers")
    parser.add_argument("--list", action="store_true", help="name the tests")
    parser.add_argument("--patience", type=int, default=1, metavar="N",
                        help="N times as long before a test counts as hanging: on slow machines")
    parser.add_argument("--long", action="store_true", help="also what takes long")
    parser.add_argument("--tsan", action="store_true", help="what a thread-sanitized build runs")
    parser.add_argument("--trace", action="store_true", help="run the scripts with sh -x")
    parser.add_argument("--again", action="store_true",
                        help=f"a second try, alone, for up to {AGAIN} failed cases")
    parser.add_argument("--keep", action="store_true", help="keep the scratch of failed tests")
    # Much of a test is waiting: two more than there are CPUs keep these busy.
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) + 2)
    parser.add_argument("wanted", nargs="*", metavar="SUITE|NAME")
    options = parser.parse_args()
    tests = choose(discover_all(options), options.wanted)
    if options.tsan:
        tests = [t for t in tests if t.tsan]
    if options.list:
        for test in tests:
            print(f"{test.suite}/{test.name}{test.note}")
        return 0
    os.umask(0o022)
    base = tempfile.mkdtemp(prefix="wardfs-t.", dir=scratch_base(os.path.abspath(options.build)))
    os.chmod(base, 0o755)
    staged = {build: stage(build, base, n)
              for n, build in enumerate(dict.fromkeys(t.build for t in tests))}

    def places(test):
        # What starts the programs takes the stage.
        return staged[test.build] if test.suite in ("cases", "escape", "machine", "agents") else (test.build, SRC)

    report = Report()
    # The longest first: at the end nothing runs alone.
    numbered = sorted(enumerate(tests), key=lambda n: not n[1].name.startswith("self/"))
    try:
        with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
            running = {pool.submit(run_one, t, base, n, places(t), options): t
                       for n, t in numbered if not t.serial}
            for done in concurrent.futures.as_completed(running):
                report.add(running[done], done.result())
        for number, test in numbered:
            if test.serial:
                report.add(test, run_one(test, base, number, places(test), options))
        if options.again and len(report.failures) <= AGAIN:
            for number, test in enumerate(report.accidents):
                report.again(test, run_one(test, base, f"again.{number}", places(test), options))
    finally:
        if options.keep and report.failures:
            print(f"kept: {base}")
        else:
            shutil.rmtree(base, ignore_errors=True)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
