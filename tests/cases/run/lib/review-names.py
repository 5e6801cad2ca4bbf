# SPDX-License-Identifier: Apache-2.0
"""review-names.py WARDFS FIRST COUNT: for each seed from FIRST on, a review session makes random
changes of names and contents. What an apply makes of the project is what the session saw, and an
undo makes it what it was: names, kinds, permissions, contents, times of files, and which names are
one file. An undo keeps inode numbers too. A seed is a whole run: repeat it by its number."""
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys

WARDFS, FIRST, COUNT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
TOP = os.getcwd()
NAMED = re.compile(r"^wardfs: (\S+): not applied: .*: name it itself", re.M)
STAMP = 1_600_000_000_000_000_000

# Runs inside, and outside to look: `ops` with a seed, then what is there.
WORK = r"""
import ctypes, json, os, random, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2

def look(top="."):
    seen, files = {}, {}
    for where, folders, names in os.walk(top):
        if ".git" in folders:
            folders.remove(".git")
        for entry in folders + names:
            path = os.path.join(where, entry)
            s = os.lstat(path)
            kind, what = stat.S_IFMT(s.st_mode), ""
            if kind == stat.S_IFLNK:
                what = os.readlink(path)
            elif kind == stat.S_IFREG:
                with open(path, encoding="ascii") as f:
                    what = f.read()
            path = os.path.relpath(path, top)
            if kind != stat.S_IFDIR:
                files.setdefault(s.st_ino, []).append(path)
            seen[path] = [kind, stat.S_IMODE(s.st_mode) if kind != stat.S_IFLNK else 0, what,
                          s.st_mtime_ns if kind == stat.S_IFREG else 0, s.st_ino]
    for path, s in seen.items():
        s.insert(4, sorted(files.get(s[4], [])))
    return seen

def exchange(a, b):
    if libc.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), EXCHANGE) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")

def write(path, text, how):
    # Not O_TRUNC: a truncated file of a moment ago has that moment's time.
    with open(path, how, encoding="ascii") as f:
        f.write(text)

def ops(rng, count):
    done = []
    for n in range(count):
        there = look()
        dirs = sorted([p for p, s in there.items() if s[0] == stat.S_IFDIR]) + ["."]
        files = sorted(p for p, s in there.items() if s[0] == stat.S_IFREG)
        every = sorted(there)
        # Few names, so that they meet again.
        def place():
            return os.path.normpath(os.path.join(rng.choice(dirs), rng.choice("abcdefgh")))
        def some(of):
            return rng.choice(of) if of else place()
        def gone(path):
            with open(path, "a", encoding="ascii") as f:
                os.unlink(path)
                f.write(f"late {n}\n")
        kind = rng.choice(("mkdir", "create", "rename", "rename", "rename", "rename", "exchange",
                           "exchange", "link", "unlink", "rmdir", "symlink", "append", "replace",
                           "chmod", "away", "gone"))
        op = {"mkdir": lambda: [os.mkdir, place()],
              "create": lambda: [write, place(), f"new {n}\n", "x"],
              "rename": lambda: [os.rename, some(every), some([place(), place(), some(every)])],
              "exchange": lambda: [exchange, some(every), some(every)],
              "link": lambda: [os.link, some(files), place()],
              "unlink": lambda: [os.unlink, some(every)],
              "rmdir": lambda: [os.rmdir, some(dirs)],
              "symlink": lambda: [os.symlink, rng.choice("abcd"), place()],
              "append": lambda: [write, some(files), f"more {n}\n", "a"],
              "replace": lambda: [write, some(files), f"other {n}\n", "w"],
              "chmod": lambda: [os.chmod, some(files), rng.choice((0o600, 0o640, 0o644))],
              # By a descriptor alone: other names have it.
              "gone": lambda: [gone, some(files)],
              # A file goes and comes back as another one.
              "away": lambda: [os.unlink, some(files)]}[kind]()
        try:
            if op[0] in (write, os.chmod, gone) and os.path.islink(op[1]):
                continue
            op[0](*op[1:])
            done.append([op[0].__name__, *op[1:]])
            if kind == "away":
                write(op[1], f"again {n}\n", "x")
                done.append(["write", op[1]])
        except OSError:
            pass
    return done
"""
INSIDE = WORK + r"""
done = ops(random.Random(int(sys.argv[1])), int(sys.argv[2]))
os.write(1, json.dumps([done, look()]).encode())
"""
OUTSIDE = {}
exec(compile(WORK, "work", "exec"), OUTSIDE)  # pylint: disable=exec-used
look = OUTSIDE["look"]


def fail(seed, text, done=()):
    print(f"FAIL: seed {seed}: {text}", file=sys.stderr)
    for op in done:
        print("   ", *op, file=sys.stderr)
    sys.exit(1)


def run(seed, *argv):
    p = subprocess.run([WARDFS, *argv], capture_output=True, text=True, check=False, timeout=300)
    return p.returncode, p.stdout, p.stderr


def build(rng, top):
    """The base: directories, files, links, and names that are one file."""
    dirs = ["."]
    for _ in range(rng.randint(2, 7)):
        path = os.path.join(rng.choice(dirs), rng.choice("abcdefgh"))
        if not os.path.lexists(os.path.join(top, path)):
            os.mkdir(os.path.join(top, path))
            dirs.append(path)
    files = []
    for n in range(rng.randint(3, 12)):
        path = os.path.join(top, rng.choice(dirs), rng.choice("abcdefgh"))
        if os.path.lexists(path):
            continue
        if rng.random() < 0.1:
            os.symlink(rng.choice("abcd"), path)
        elif files and rng.random() < 0.2:
            os.link(rng.choice(files), path)
        else:
            with open(path, "w", encoding="ascii") as f:
                f.write(f"old {n}\n")
            os.chmod(path, 0o644)
            os.utime(path, ns=(STAMP + n, STAMP + n))
            files.append(path)


def differences(want, have, fields):
    wrong = []
    for path in sorted(set(want) | set(have)):
        a, b = want.get(path), have.get(path)
        if not a or not b or a[:fields] != b[:fields]:
            wrong.append(f"{path}: is {b}, not {a}")
    return "\n".join(wrong)


def one(seed):
    rng = random.Random(seed)
    project = os.path.join(TOP, f"names-{seed}")
    shutil.rmtree(project, ignore_errors=True)
    os.mkdir(project)
    os.mkdir(os.path.join(project, ".git"))
    build(rng, project)
    os.chdir(project)
    before = look()
    name = f"n{seed}-{os.getpid()}"
    code, out, err = run(seed, "run", "--review", "-s", name, "--", "python3", "-c", INSIDE,
                         str(seed), str(rng.choice((4, 10, 25))))
    try:
        done, seen = json.loads(out)
    except ValueError:
        fail(seed, f"the session: exit {code}: {out}{err}")
    was = f"the base: {sorted(before)}"

    def same(what, want, fields, code, out, err):
        wrong = differences(want, look(), fields)
        if wrong or code:
            fail(seed, f"{what}: exit {code}\n{wrong}\n{out}{err}{was}", done)

    nothing = not differences(before, seen, 6)
    files = json.loads(json.dumps(before))
    parts = []

    def apply(*options):
        code, out, err = run(seed, "review", "apply", "-s", name, *options)
        named = NAMED.findall(err)
        # What leads out of the project is applied by its name alone. Then comes what needs it.
        if named and code == 1 and not options:
            parts.append(named)
            more = run(seed, "review", "apply", "-s", name, *named)
            last = run(seed, "review", "apply", "-s", name)
            return (0, out + more[1] + last[1], err + more[2] + last[2])
        return (0 if named and code == 1 else code, out, err)

    same("apply --dry-run", before, 6, *apply("--dry-run"))
    same("apply", seen, 5, *apply())
    same("another apply", seen, 5, *apply())
    # With nothing applied there is nothing to be undone.
    code, out, err = run(seed, "review", "undo", "-s", name, "--dry-run")
    # Over several applies that rename directories it can name a conflict that is gone then.
    same("undo --dry-run", seen, 5, 0 if nothing or parts else code, out, err)
    code, out, err = run(seed, "review", "undo", "-s", name)
    same("undo", files, 5, 0 if code == 125 and nothing else code, out, err)
    for path, s in look().items():
        if s[0] != stat.S_IFDIR and s[5] != before[path][5]:
            fail(seed, f"undo: {path} is another inode", done)
    os.chdir(TOP)
    shutil.rmtree(project)
    run(seed, "review", "discard", name)


for SEED in range(FIRST, FIRST + COUNT):
    one(SEED)
print(f"{COUNT} seeds from {FIRST} on")
