#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""review.py BUILD DIR [FILES]: what staged changes cost, at once and for many files (docs/review.md).

Prints lines "NAME VALUE". Times are in milliseconds by the clock; NAME-cpu is the time of the
processors in that command. FILES: how many files there are and change, 100,000 if it is not given.

  start, start-review       `wardfs run -- true` without and with --review, medians of pairs
  stat, apply, undo         `review diff --stat`, `review apply`, `review undo` of FILES changed files
  fs-mb, fs-anon-mb         memory of wardfs-fs when they are staged: the most so far, and its own
  back                      `review back` over FILES / 10 changed files
  rename, rename-records    of a directory with FILES files, inside; records of that in the trail
  mark                      a step inside, when no file is open to be written; the median
  mark-mapped, copy-mapped  the same with 100 MB of a file mapped to be written; one copy of that file
  peer-NAME                 4,000 files changed and brought into the project: staged and applied, in
                            a worktree of git with rsync, in fuse-overlayfs with rsync, and in
                            agentfs-sdk, whose node_modules is in $WARD_AGENTFS
"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

BUILD, WHERE, FILES = "", "", 100000
EACH = 100
WARDFS = ""
STARTS, MARKS = 15, 9
PEER_FILES = 4000
MAPPED = 100 << 20
LIMIT = 600

# In the session: does what a line of stdin says, and answers with a line.
INSIDE = """
import mmap, os, sys, time
for line in sys.stdin:
    what, *args = line.split()
    began = time.monotonic()
    if what == "change":
        top, count, each = args[0], int(args[1]), int(args[2])
        for n in range(count):
            with open(f"{top}/{n // each}/{n % each}", "w") as f:
                f.write(f"changed {n}\\n")
    elif what == "rename":
        os.rename(args[0], args[1])
    elif what == "mark":
        os.setxattr(".", "user.wardfs.mark", b"")
    elif what == "map":
        f = open("mapped", "w+b")
        for _ in range(int(args[0]) >> 20):
            f.write(os.urandom(1 << 20))
        f.flush()
        m = mmap.mmap(f.fileno(), 0)
        m[0] = 1
    elif what == "copy":
        with open("mapped", "rb") as src, open("copied", "wb") as to:
            while os.copy_file_range(src.fileno(), to.fileno(), 1 << 30):
                pass
        os.unlink("copied")
    print(time.monotonic() - began, flush=True)
"""
AGENTFS = """
import { createRequire } from "module";
import { pathToFileURL } from "url";
import fs from "fs";
const [modules, top, count, each, db] = process.argv.slice(2);
const found = createRequire(modules + "/x.js").resolve("agentfs-sdk");
const { AgentFS } = await import(pathToFileURL(found));
const agent = await AgentFS.open({ path: db });
const name = n => `/${Math.floor(n / each)}/${n % each}`;
for (let n = 0; n < count; n++) await agent.fs.writeFile(name(n), `changed ${n}\\n`);
for (let n = 0; n < count; n++) fs.writeFileSync(top + name(n), await agent.fs.readFile(name(n)));
await agent.close();
"""


def show(name, value):
    print(name, value, flush=True)


def run(*argv, cwd, good=(0,)):
    """Milliseconds by the clock, and of processors."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(argv, cwd=cwd, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode not in good:
        sys.exit(f"review.py: {' '.join(argv)}: {done.returncode}: {done.stderr[-2000:]}")
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    return 1000 * wall, 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def files(top, count, each=EACH):
    for n in range(count):
        if n % each == 0:
            os.makedirs(f"{top}/{n // each}")
        with open(f"{top}/{n // each}/{n % each}", "w", encoding="ascii") as f:
            f.write(f"old {n}\n")


def project(name, count):
    top = os.path.join(WHERE, name)
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    files(os.path.join(top, "data"), count)
    return top


class Session:
    """A session whose changes are staged, and that does what it is told."""

    def __init__(self, top, name):
        self.top, self.name = top, name
        self.child = subprocess.Popen(
            [WARDFS, "run", "--review", "--session", name, "--", "python3", "-c", INSIDE], cwd=top,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.do("begun")

    def do(self, *words):
        """Milliseconds that it took inside."""
        self.child.stdin.write(" ".join(map(str, words)) + "\n")
        self.child.stdin.flush()
        said = self.child.stdout.readline()
        if not said:
            sys.exit(f"review.py: {self.name}: {self.child.communicate()[1][-2000:]}")
        return 1000 * float(said)

    def memory(self):
        """(the most so far, its own now), in MB, of this session's wardfs-fs."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/status", encoding="ascii") as f:
                    status = dict(line.split(":", 1) for line in f)
            except OSError:
                continue
            if status["Name"].strip() == "wardfs-fs" and int(status["PPid"]) == self.child.pid:
                return tuple(int(status[key].split()[0]) / 1024 for key in ("VmHWM", "RssAnon"))
        sys.exit("review.py: no wardfs-fs")

    def end(self):
        self.child.stdin.close()
        if self.child.wait(LIMIT):
            sys.exit(f"review.py: {self.name}: {self.child.stderr.read()[-2000:]}")
        self.child.stdout.close()
        self.child.stderr.close()


def starts():
    top = project("start", 1)
    times = {"start": [], "start-review": []}
    for n in range(STARTS):
        pair = [("start", []), ("start-review", ["--review"])]
        for name, options in pair[::-1] if n % 2 else pair:
            times[name].append(run(WARDFS, "run", *options, "--", "true", cwd=top)[0])
    for name, values in times.items():
        show(name, statistics.median(values))


def many():
    top = project("many", FILES)
    session = Session(top, f"bench-many-{os.getpid()}")
    show("change", session.do("change", "data", FILES, EACH))
    most, own = session.memory()
    show("fs-mb", most)
    show("fs-anon-mb", own)
    session.end()
    for name, words in (("stat", ["diff", "--stat"]), ("apply", ["apply"]), ("undo", ["undo"])):
        wall, cpu = run(WARDFS, "review", *words, "--session", session.name, cwd=top)
        show(name, wall)
        show(name + "-cpu", cpu)
    run(WARDFS, "review", "discard", "--session", session.name, cwd=top)

    session = Session(top, f"bench-rename-{os.getpid()}")
    show("rename", session.do("rename", "data", "renamed"))
    session.end()
    records = subprocess.run([WARDFS, "audit", "show", "--json", "--kind", "rename", session.name], cwd=top,
                             check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    show("rename-records", len([json.loads(line) for line in records]))
    run(WARDFS, "review", "discard", "--session", session.name, cwd=top)

    session = Session(top, f"bench-back-{os.getpid()}")
    run(WARDFS, "review", "mark", "begin", "--session", session.name, cwd=top)
    session.do("change", "data", FILES // 10, EACH)
    wall, cpu = run(WARDFS, "review", "back", "begin", "--session", session.name, cwd=top)
    show("back", wall)
    show("back-cpu", cpu)
    session.end()
    shutil.rmtree(top)


def marks():
    top = project("marks", 2000)
    session = Session(top, f"bench-marks-{os.getpid()}")
    session.do("change", "data", 1000, EACH)
    times = []
    for _ in range(MARKS):
        session.do("change", "data", 10, EACH)
        times.append(session.do("mark"))
    show("mark", statistics.median(times))
    session.do("map", MAPPED)
    session.do("mark")
    pairs = [(session.do("copy"), session.do("mark")) for _ in range(MARKS)]
    show("copy-mapped", statistics.median(p[0] for p in pairs))
    show("mark-mapped", statistics.median(p[1] for p in pairs))
    session.end()
    shutil.rmtree(top)


# --- peers ---

CHANGE = ["python3", "-c", f"""
for n in range({PEER_FILES}):
    with open(f"data/{{n // {EACH}}}/{{n % {EACH}}}", "w") as f:
        f.write(f"changed {{n}}\\n")
"""]


def staged(top):
    name = f"bench-peer-{os.getpid()}"
    return run(WARDFS, "run", "--review", "--session", name, "--", *CHANGE, cwd=top)[0] + \
        run(WARDFS, "review", "apply", "--session", name, cwd=top)[0]


def worktree(top):
    for words in (["init"], ["add", "-A"], ["-c", "user.name=bench", "-c", "user.email=bench@localhost",
                                            "commit", "-m", "data"]):
        run("git", *words, cwd=top)
    other = top + ".worktree"
    return run("git", "worktree", "add", other, "HEAD", cwd=top)[0] + run(*CHANGE, cwd=other)[0] + \
        run("rsync", "-a", "--checksum", "--exclude", ".git", other + "/", top + "/", cwd=top)[0] + \
        run("git", "worktree", "remove", "--force", other, cwd=top)[0]


def overlay(top):
    upper, work, point = (top + end for end in (".upper", ".work", ".mnt"))
    for path in (upper, work, point):
        os.makedirs(path)
    total = run("fuse-overlayfs", "-o", f"lowerdir={top},upperdir={upper},workdir={work}", point, cwd=top)[0]
    total += run(*CHANGE, cwd=point)[0] + run("umount", point, cwd=top)[0]
    return total + run("rsync", "-a", upper + "/", top + "/", cwd=top)[0]


def agentfs(top):
    script = os.path.join(WHERE, "agentfs.mjs")
    with open(script, "w", encoding="ascii") as f:
        f.write(AGENTFS)
    return run("node", script, os.environ["WARD_AGENTFS"], os.path.join(top, "data"), str(PEER_FILES), str(EACH),
               os.path.join(WHERE, "agentfs.db"), cwd=top)[0]


def peers():
    here = {"staged": staged}
    if shutil.which("rsync"):
        here["git-worktree"] = worktree
        if shutil.which("fuse-overlayfs"):
            here["fuse-overlayfs"] = overlay
    if "WARD_AGENTFS" in os.environ:
        here["agentfs-sdk"] = agentfs
    for name, peer in here.items():
        top = project("peer", PEER_FILES)
        show("peer-" + name, peer(top))
        with open(os.path.join(top, "data/39/99"), encoding="ascii") as f:
            if f.read() != f"changed {PEER_FILES - 1}\n":
                sys.exit(f"review.py: {name}: the project is not changed")
        for left in (top, top + ".upper", top + ".work", top + ".mnt", os.path.join(WHERE, "agentfs.db")):
            subprocess.run(["rm", "-rf", left], check=True)


def said(m):
    """The lines of the table, from medians by name."""
    peers_said = ", ".join(f"{name.removeprefix('peer-')} {value / 1000:.2f}" for name, value in m.items()
                           if name.startswith("peer-"))
    return (f"review: --review adds {m['start-review'] - m['start']:+.1f} ms to a start (to reach: ≤ 1); a step "
            f"takes {m['mark']:.1f} ms (≤ 2), with 100 MB mapped to be written {m['mark-mapped']:.0f} ms, where one "
            f"copy takes {m['copy-mapped']:.0f}; a renamed directory of {FILES:,} files {m['rename']:.1f} ms (≤ 1) "
            f"and {m['rename-records']:.0f} record\n"
            f"{FILES:,} changed files, seconds and those of CPU: review --stat {m['stat'] / 1000:.1f}, "
            f"{m['stat-cpu'] / 1000:.1f} (≤ 3), apply {m['apply'] / 1000:.1f}, {m['apply-cpu'] / 1000:.1f} (≤ 5), "
            f"undo {m['undo'] / 1000:.1f}, {m['undo-cpu'] / 1000:.1f} (≤ 5); wardfs-fs {m['fs-mb']:.0f} MB (≤ 150); "
            f"back over {FILES // 10:,} {m['back'] / 1000:.1f} (≤ 1)\n"
            f"{PEER_FILES:,} files changed and in the project, seconds: {peers_said}")


def main():
    global BUILD, WHERE, WARDFS, FILES
    BUILD, WHERE = sys.argv[1:3]
    WARDFS = os.path.join(BUILD, "wardfs")
    FILES = int(sys.argv[3]) if len(sys.argv) > 3 else FILES
    starts()
    marks()
    many()
    peers()


if __name__ == "__main__":
    main()
