# SPDX-License-Identifier: Apache-2.0
"""review-killed.py WARDFS POINTS [SEED]: review sessions that lose a process by SIGKILL at a random
point: a session itself, a mark, a step back, an apply, an undo. Of an apply and an undo the point is
one of all system calls that change something; of the others it is a moment, and the process is any of
the session's. Each file of the project is then as before or as after, whatever the session did not
change is the same inode as before, and what a program was told to be on disk is staged. The same
command run again finishes. The printed seed repeats a run."""
import collections
import hashlib
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import time

WARDFS, POINTS = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "little")
TOP = os.getcwd()
BOUND = 300  # seconds, of a machine that is very busy; then it hangs
# What changes something, or brings it to disk.
CALLS = ["renameat2", "unlinkat", "linkat", "symlinkat", "mkdirat", "write", "pwrite64", "openat",
         "openat2", "fchmod", "fchownat", "utimensat", "ftruncate", "syncfs", "fsync", "fdatasync"]
VICTIMS = ("fs_pid", "audit_pid", "init_pid", "pid")
DIRS = ["", "a", "a/b", "c", "c/d/e"]

# Runs inside: operations of standard input, one JSON line each. A line goes out when one is over.
WORK = r"""
import hashlib, json, os, sys
for line in sys.stdin:
    op, *args = json.loads(line)
    try:
        if op == "write":
            os.makedirs(os.path.dirname(args[0]) or ".", exist_ok=True)
            fd = os.open(args[0], os.O_WRONLY | os.O_CREAT | args[2], 0o644)
            os.write(fd, args[1].encode())
            os.fsync(fd)
            os.close(fd)
        elif op == "chmod":
            os.chmod(args[0], args[1])
        elif op == "look":
            for where, folders, files in os.walk("."):
                folders[:] = [f for f in folders if f != ".git"]
                for path in (os.path.join(where, f)[2:] for f in files):
                    if os.path.islink(path):
                        continue
                    with open(path, "rb") as f:
                        args.append((path, hashlib.sha1(f.read()).hexdigest()))
        else:
            getattr(os, op)(*args)
        # Short, since nobody reads it while more is sent.
        said = ["done", op, *args] if op == "look" else ["done", op, args[0]]
    except OSError as e:
        said = ["failed", e.errno, op, args[0]]
    os.write(1, (json.dumps(said) + "\n").encode())
os.write(1, b'["over"]\n')
"""


RUNNING, DONE, HISTORY = [], [], []  # of the last session


def fail(text):
    print(f"FAIL: seed {SEED}: {text}", file=sys.stderr)
    for p in RUNNING:
        p.kill()
    print(f"points of it: {HISTORY}", file=sys.stderr)
    if DONE:
        print("the session did: " + "; ".join(" ".join(str(a)[:40].strip() for a in op)
                                              for op in DONE), file=sys.stderr)
    sys.exit(1)


def look(path):
    """What a file is: type, permissions, content."""
    s = os.lstat(path)
    kind = stat.S_IFMT(s.st_mode)
    if kind == stat.S_IFLNK:
        return kind, 0, os.readlink(path)
    if kind != stat.S_IFREG:
        return kind, stat.S_IMODE(s.st_mode), ""
    with open(path, "rb") as f:
        return kind, stat.S_IMODE(s.st_mode), hashlib.sha1(f.read()).hexdigest()


def picture(top, rest=False):
    """Names to what they are; not what an apply that was ended left beside, unless rest."""
    seen = {}
    for where, folders, files in os.walk(top):
        if ".git" in folders:
            folders.remove(".git")
        for entry in folders + files:
            if rest or not entry.startswith(".wardfs-apply-"):
                path = os.path.join(where, entry)
                seen[os.path.relpath(path, top)] = look(path)
    return seen


def stamps(top):
    """Names to what tells the very file: nothing touched it."""
    seen = {}
    for where, folders, files in os.walk(top):
        if ".git" in folders:
            folders.remove(".git")
        for path in (os.path.join(where, entry) for entry in folders + files):
            s = os.lstat(path)
            seen[os.path.relpath(path, top)] = (s.st_ino, s.st_mtime_ns, s.st_ctime_ns, s.st_size,
                                                s.st_mode, s.st_uid, s.st_nlink)
    return seen


def review(*args, want=(0,)):
    p = subprocess.run([WARDFS, "review", *args], capture_output=True, text=True, timeout=BOUND,
                       check=False)
    if p.returncode not in want:
        fail(f"review {' '.join(args)}: exit {p.returncode}: {p.stdout[-2000:]}{p.stderr[-2000:]}")
    return p.stdout + p.stderr


class Plan:
    """A project, and what a session does to it, by the seed."""

    def __init__(self, rng, name):
        self.rng, self.name, self.n = rng, name, 0
        # Each its own: what is kept for a project is not for another one of the same name.
        self.project = os.path.join(TOP, f"project-{name}")
        self.beside = os.path.join(TOP, "beside")
        self.moves = []
        DONE.clear()
        HISTORY.clear()
        for top in (self.project, self.beside):
            shutil.rmtree(top, ignore_errors=True)
            os.mkdir(top)
        subprocess.run(["git", "init", "-q", self.project], check=True)
        for top in (self.project, self.beside):
            for directory in DIRS:
                os.makedirs(os.path.join(top, directory), exist_ok=True)
                for i in range(4):
                    with open(os.path.join(top, directory, f"f{i}"), "w", encoding="ascii") as f:
                        f.write(self.text())
                os.symlink("f1", os.path.join(top, directory, "link"))
        os.chmod(os.path.join(self.project, "a/f3"), 0o600)
        self.before = picture(self.project)
        self.stamps = stamps(self.project)
        self.others = stamps(self.beside)

    def text(self):
        """No two are the same."""
        self.n += 1
        return f"{self.name} {self.n} " + "x" * self.rng.choice((0, 10, 4000, 70000)) + "\n"

    def any(self, names):
        return self.rng.choice(sorted(names))

    def ops(self, count):
        """Operations that succeed; what the tree is afterwards is kept in self.now."""
        now, made = getattr(self, "now", dict(self.before)), []
        for _ in range(count):
            files = [p for p, s in now.items() if s[0] == stat.S_IFREG]
            folders = [p for p, s in now.items() if s[0] == stat.S_IFDIR]
            op = self.rng.choice(("append", "append", "rewrite", "new", "new", "unlink", "rename",
                                  "move", "mkdir", "chmod", "over", "again", "symlink"))
            self.n += 1
            if op in ("append", "rewrite") and files:
                made.append(["write", self.any(files), self.text(),
                             os.O_APPEND if op == "append" else os.O_TRUNC])
            elif op == "new":
                at = os.path.join(self.any(folders + [""]), f"n{self.n}")
                now[at] = (stat.S_IFREG, 0, "")
                made.append(["write", at, self.text(), 0])
            elif op == "unlink" and len(files) > 5:
                made.append(["unlink", self.any(files)])
                del now[made[-1][1]]
            elif op in ("rename", "over") and len(files) > 5:
                old = self.any(files)
                new = self.any(set(files) - {old}) if op == "over" else \
                    os.path.join(os.path.dirname(old), f"r{self.n}")
                now[new] = now.pop(old)
                self.moves.append((old, new))
                made.append(["rename", old, new])
            elif op == "move" and folders:
                old, new = self.any(folders), f"d{self.n}"
                for p in [p for p in now if p == old or p.startswith(old + "/")]:
                    now[new + p[len(old):]] = now.pop(p)
                self.moves.append((old, new))
                made.append(["rename", old, new])
            elif op == "mkdir":
                now[f"m{self.n}"] = (stat.S_IFDIR, 0, "")
                made.append(["mkdir", f"m{self.n}"])
            elif op == "chmod" and files:
                made.append(["chmod", self.any(files), self.rng.choice((0o600, 0o640))])
            elif op == "again" and files:
                old = self.any(files)
                made += [["unlink", old], ["write", old, self.text(), 0]]
            elif op == "symlink":
                now[f"l{self.n}"] = (stat.S_IFLNK, 0, "")
                made.append(["symlink", "f2", f"l{self.n}"])
        self.now = now
        DONE.extend(made)
        return made

    def names(self, path):
        """Under which names a file can be while its changes come one by one."""
        known, todo = {path}, [path]
        while todo:
            p = todo.pop()
            for old, new in self.moves:
                for a, b in ((old, new), (new, old)):
                    if p == a or p.startswith(a + "/"):
                        q = b + p[len(a):]
                        if q not in known and len(known) < 200:
                            known.add(q)
                            todo.append(q)
        return known

    def untouched(self):
        if stamps(self.project) != self.stamps:
            fail("the project changed")

    def halfway(self, after):
        """Each file is as before or as after, no other one was touched, and none is lost."""
        now = picture(self.project)
        for path, is_now in now.items():
            names = self.names(path)
            if not any(is_now == was.get(q) for was in (self.before, after) for q in names):
                fail(f"{path} is neither as before nor as after: {is_now}")
        # What waits beside its place is there, too.
        there = collections.Counter(s for s in picture(self.project, True).values()
                                    if s[0] == stat.S_IFREG)
        for path, was in self.before.items():
            if was[0] != stat.S_IFREG or was not in after.values() or was in there:
                continue
            fail(f"{path} is lost")
        for path, was in self.before.items():
            if self.same_name(path, after) and self.stamps[path][:2] != stamps_of(self.project, path):
                fail(f"{path}, which the session did not change, is another file")
        if stamps(self.beside) != self.others:
            fail("files beside the project were touched")

    def same_name(self, path, after):
        return self.before[path] == after.get(path) and self.before[path][0] == stat.S_IFREG and \
            len(self.names(path)) == 1

    def whole(self, want, what):
        now = picture(self.project, True)
        if now != want:
            wrong = [p for p in sorted(set(now) | set(want)) if now.get(p) != want.get(p)]
            fail(f"{what}: {[(p, now.get(p), want.get(p)) for p in wrong[:5]]}")


def stamps_of(top, path):
    s = os.lstat(os.path.join(top, path))
    return s.st_ino, s.st_mtime_ns


class Session:
    """A session that works through operations."""

    def __init__(self, plan, *options):
        self.plan, self.out = plan, []
        self.err = open(os.path.join(TOP, "session.err"), "w+", encoding="utf-8")
        # Whoever starts it has the terminal: it would ask.
        self.p = subprocess.Popen(
            [WARDFS, "run", "--review", "-s", plan.name, *options, "--", "python3", "-c", WORK],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err, text=True)
        RUNNING[:] = [self.p]

    def send(self, ops):
        try:
            self.p.stdin.write("".join(json.dumps(o) + "\n" for o in ops))
            self.p.stdin.flush()
        except BrokenPipeError:
            pass

    def wait_up(self, ops):
        """The first of them is over."""
        self.send(ops)
        return self.wait(1)

    def wait(self, lines):
        """Until so many operations are over; False: it ended before."""
        while len(self.out) < lines:
            line = self.p.stdout.readline()
            if not line:
                return False
            self.out.append(json.loads(line))
            if self.out[-1][0] == "failed":
                fail(f"inside: {self.out[-1]}")
        return True

    def pids(self):
        p = subprocess.run([WARDFS, "ps", "--json"], capture_output=True, text=True, check=True)
        return next((s for s in json.loads(p.stdout) if s["session"] == self.plan.name), {})

    def end(self, code=None):
        for line in self.p.stdout if self.p.stdin.closed else self.rest():
            line = json.loads(line)
            if line[0] != "over":
                self.out.append(line)
        status = self.p.wait(BOUND)
        self.err.seek(0)
        text = self.err.read()
        self.err.close()
        if code is not None and status != code:
            fail(f"the session's exit status is {status}: {text}")
        until = time.monotonic() + BOUND
        # Without its supervisor the helpers end by themselves, a moment later.
        while time.monotonic() < until and (self.pids() or "still runs" in review(
                self.plan.name, want=(0, 125))):
            time.sleep(0.05)
        return text

    def rest(self):
        try:
            self.p.stdin.close()
        except BrokenPipeError:
            pass
        return self.p.stdout


def traced(calls, argv, kill=None):
    """Runs argv under strace, until it makes the kill-th of these calls. (status, calls made)"""
    log = os.path.join(TOP, "calls")
    inject = ["-e", f"inject={kill[0]}:signal=KILL:when={kill[1]}"] if kill else []
    p = subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", "trace=" + ",".join(calls), *inject,
                        *argv], capture_output=True, text=True, timeout=BOUND, check=False)
    made = collections.Counter()
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f:
            call = line.split(None, 1)[1].split("(", 1)[0]
            if call in calls:
                made[call] += 1
    if not kill and p.returncode:
        fail(f"{argv}: exit {p.returncode}: {p.stdout[-2000:]}{p.stderr[-2000:]}")
    return p.returncode, made


class Rounds:
    def __init__(self):
        self.rng = random.Random(SEED)
        self.counts, self.killed = collections.Counter(), collections.Counter()
        self.left, self.sessions = POINTS, 0

    def point(self, kind, was_killed):
        self.counts[kind] += 1
        self.killed[kind] += bool(was_killed)
        self.left -= 1

    def plan(self):
        self.sessions += 1
        return Plan(random.Random(self.rng.getrandbits(32)), f"k{self.sessions}")

    def one_kill(self, made):
        n = self.rng.randrange(sum(made.values()))
        for call, count in sorted(made.items()):
            if n < count:
                return call, n + 1
            n -= count
        return None

    def applies(self, points):
        """A session, and applies and undoes of it that are killed."""
        plan = self.plan()
        os.chdir(plan.project)
        s = Session(plan)
        s.send(plan.ops(self.rng.randint(3, 25)))
        s.end(0)
        plan.untouched()
        verbs = {"apply": [WARDFS, "review", "apply", "-s", plan.name],
                 "undo": [WARDFS, "review", "undo", "-s", plan.name]}
        made = {"apply": traced(CALLS, verbs["apply"])[1]}
        after = picture(plan.project, True)
        made["undo"] = traced(CALLS, verbs["undo"])[1]
        plan.whole(plan.before, "undo")
        ends = {"apply": after, "undo": plan.before}
        for _ in range(points):
            verb = self.rng.choice(("apply", "undo"))
            if verb == "undo":
                review("apply", "-s", plan.name)
                plan.whole(after, "apply")
            kill = self.one_kill(made[verb])
            status, _ = traced(CALLS, verbs[verb], kill)
            self.point(verb, status < 0)
            where = f"{verb} at {kill}"
            HISTORY.append(where)
            plan.halfway(after)
            again = verb if self.rng.random() < 0.6 else {"apply": "undo", "undo": "apply"}[verb]
            # Nothing may have been applied yet that could be undone.
            review(again, "-s", plan.name, want=(0, 125) if again == "undo" else (0,))
            plan.whole(ends[again], f"{where}, then {again}")
            if again == "apply":
                review("undo", "-s", plan.name)
            plan.whole(plan.before, f"{where}, {again}, undo")
        os.chdir(TOP)

    def session(self):
        """A session that loses one of its processes while it works."""
        plan = self.plan()
        os.chdir(plan.project)
        s = Session(plan)
        acks = [["write", f"ack/{i}", f"{i} " * 2000, 0] for i in range(150)]
        content = {a[1]: a[2] for a in acks}
        mixed = plan.ops(20)
        for i, op in enumerate(mixed):
            acks.insert(i * 7, op)
        if not s.wait_up(acks):
            fail("the session did not begin")
        pids = s.pids()
        victim = self.rng.choice([v for v in VICTIMS if pids.get(v)])
        s.wait(self.rng.randint(1, len(acks) - 1))
        time.sleep(self.rng.random() / 500)
        os.kill(int(pids[victim]), 9)
        s.end()
        self.point("session", True)
        plan.untouched()
        exported = os.path.join(TOP, "exported")
        shutil.rmtree(exported, ignore_errors=True)
        review("export", exported, "-s", plan.name)
        for line in s.out:
            if line[0] != "done" or not line[2].startswith("ack/"):
                continue
            with open(os.path.join(exported, "files", line[2]), encoding="ascii") as f:
                if f.read() != content[line[2]]:
                    fail(f"{line[2]}: what fsync acknowledged is not staged ({victim})")
        plan.untouched()
        review("apply", "-s", plan.name)
        review("undo", "-s", plan.name)
        plan.whole(plan.before, f"session without {victim}, then apply and undo")
        os.chdir(TOP)

    def back(self):
        """A mark or a step back that loses a process of the session, or its own."""
        plan = self.plan()
        os.chdir(plan.project)
        s = Session(plan)
        seen = []
        for verb in ("mark", None):
            s.send([*plan.ops(10), ["look"]])
            while not s.out or s.out[-1][1] != "look":
                if not s.wait(len(s.out) + 1):
                    fail(f"the session ended: {s.end()}")
            seen.append(s.out.pop())
            if verb:
                review(verb, "first", "-s", plan.name)
        verb = self.rng.choice(("mark", "back", "back"))
        pids = s.pids()
        victim = self.rng.choice([v for v in VICTIMS if pids.get(v)] + ["fs_pid", "command"])
        with subprocess.Popen([WARDFS, "review", verb, "second" if verb == "mark" else "first", "-s",
                               plan.name], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as p:
            time.sleep(self.rng.random() * self.rng.choice((0.005, 0.02, 0.1)))
            os.kill(p.pid if victim == "command" else int(pids[victim]), 9)
            p.wait(BOUND)
        if victim == "command":
            review(verb, "first" if verb == "back" else "third", "-s", plan.name)
        s.end()
        self.point(verb, True)
        plan.untouched()
        # What is staged is whole: it is applied, and is what was seen at one of the two moments.
        review("apply", "-s", plan.name)
        now = sorted((p, s[2]) for p, s in picture(plan.project).items() if s[0] == stat.S_IFREG)
        good = [sorted(tuple(e) for e in was[2:]) for was in
                (seen if verb == "back" and victim != "command" else
                 seen[:1] if verb == "back" else seen[1:])]
        if now not in good:
            fail(f"{verb} without {victim}: neither before nor after: {set(now) ^ set(good[-1])}")
        review("undo", "-s", plan.name, want=(0, 125))
        plan.whole(plan.before, f"{verb} without {victim}, then apply and undo")
        os.chdir(TOP)

    def run(self):
        while self.left > 0:
            kind = self.rng.choice(("applies", "applies", "session", "back"))
            if kind == "applies":
                self.applies(min(self.left, self.rng.randint(4, 16)))
            else:
                getattr(self, kind)()
        told = ", ".join(f"{k} {n} ({self.killed[k]} killed)" for k, n in sorted(self.counts.items()))
        print(f"seed {SEED}: {sum(self.counts.values())} points: {told}")


if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    Rounds().run()
