# SPDX-License-Identifier: Apache-2.0
"""review-chains.py WARDFS COUNT [SEED]: chains of random renames (and some files and directories
that come, go and change), each in a directory of its own, are applied and undone. Prints the seed.

What is applied as a whole is what the session saw. An undo restores the project, whatever an apply
left out.

review-chains.py --do SEED COUNT: makes the changes, in the session, and prints what it has then."""
import json
import os
import random
import subprocess
import sys

FIRST = [("e/a", "a"), ("b", "t0"), ("e", "b"), ("a", "e"), ("t0", "a")]
NAMES = ["a", "b", "e", "t0", "x", "y"]


def build(top):
    for path in ("b", "e/a/in", "d/sub"):
        os.makedirs(top + "/" + path)
    for path in ("b/f", "e/f", "e/a/f", "e/a/in/f", "d/f", "d/sub/f", "x", "y"):
        with open(top + "/" + path, "w") as f:
            f.write("old " + path + "\n")


def dump(top):
    found = {}
    for at, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(at, name)
            text = "" if name in dirs else open(path).read()
            found[os.path.relpath(path, top)] = [os.lstat(path).st_mode, text]
    return found


def paths(top):
    return sorted(dump(top))


def attempt(fn, *args):
    try:
        fn(*args)
    except OSError:
        pass


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def change(rng, top, plain):
    have = paths(top)
    kind = rng.random()
    where = rng.choice([""] + [p + "/" for p in have if os.path.isdir(top + "/" + p)])
    new = top + "/" + where + rng.choice(NAMES)
    old = top + "/" + rng.choice(have)
    if plain or kind < 0.75:
        attempt(os.rename, old, new)
    elif kind < 0.8:
        attempt(os.mkdir, new)
    elif kind < 0.88:
        attempt(write, new, "new %d\n" % rng.randrange(99))
    elif kind < 0.93:
        attempt(os.unlink, old)
    elif kind < 0.96:
        attempt(os.rmdir, old)
    else:
        attempt(os.chmod, old, 0o750 if os.path.isdir(old) else 0o640)


def do(seed, count):
    for k in range(count):
        rng = random.Random("%s/%d" % (seed, k))
        if k == 0:
            for old, new in FIRST:
                os.rename("c0/" + old, "c0/" + new)
        for _ in range(rng.randrange(2, 9) if k else 0):
            change(rng, "c%d" % k, k % 2)
    print(json.dumps(dump(".")))


def differ(what, seed, a, b):
    lines = [p for p in sorted(set(a) | set(b)) if a.get(p) != b.get(p)]
    sys.exit("seed %s: %s: %s" % (seed, what, [(p, a.get(p), b.get(p)) for p in lines[:12]]))


def main():
    wardfs, count = sys.argv[1], int(sys.argv[2])
    seed = sys.argv[3] if len(sys.argv) > 3 else str(random.SystemRandom().randrange(1 << 32))
    print("seed", seed, flush=True)
    for k in range(count):
        build("c%d" % k)
    write("chains.py", open(__file__).read())
    owner = os.stat(".")
    for at, dirs, files in os.walk("."):
        for name in dirs + files:
            os.chown(os.path.join(at, name), owner.st_uid, owner.st_gid)
    before = dump(".")
    run = subprocess.run([wardfs, "run", "--review", "--", "python3", "chains.py", "--do", seed,
                          str(count)], stdout=subprocess.PIPE, check=True)
    seen = json.loads(run.stdout)
    if dump(".") != before:
        differ("before the apply", seed, before, dump("."))
    applied = subprocess.run([wardfs, "review", "apply"], capture_output=True, text=True)
    # A second one does what waited for something else.
    again = subprocess.run([wardfs, "review", "apply"], capture_output=True, text=True)
    print(applied.stdout.strip(), "and", again.stdout.strip())
    if again.returncode == 0 and dump(".") != seen:
        differ("applied", seed, seen, dump("."))
    if dump(".") == before:
        sys.exit("nothing was applied")
    undone = subprocess.run([wardfs, "review", "undo"], capture_output=True, text=True)
    if dump(".") != before:
        differ("undone (" + undone.stderr + ")", seed, before, dump("."))
    if undone.returncode:
        sys.exit("seed %s: undo: %s" % (seed, undone.stderr))


if sys.argv[1] == "--do":
    do(sys.argv[2], int(sys.argv[3]))
else:
    main()
