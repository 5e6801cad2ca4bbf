# SPDX-License-Identifier: Apache-2.0
"""review-full-random.py WARDFS COUNT STATE STORE SEED: the current directory, STATE, and STORE for
what is staged are small file systems. For COUNT points, one or both are filled but for some room while changes of a review session
are applied, undone, or put back to a step. Each file of the project is then as before or as after.
With room again the same command finishes, or the other one takes everything back. What did not
succeed changed nothing. The printed seed repeats a run."""
import importlib.util
import os
import random
import shutil
import stat
import sys

WARDFS, COUNT, STATE, STORE = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else int.from_bytes(os.urandom(3), "little")
sys.argv = ["", WARDFS, "0", str(SEED)]
spec = importlib.util.spec_from_file_location(
    "killed", os.path.join(os.path.dirname(__file__), "review-killed.py"))
killed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(killed)
TOP = os.getcwd()


class Disks:
    """What is filled, until it is emptied."""

    def __init__(self, rng):
        self.rng, self.paths = rng, []

    def fill(self, which):
        for top in which:
            path = os.path.join(top, "filler")
            with open(path, "wb", buffering=0) as f:
                try:
                    while f.write(bytes(1 << 16)) == 1 << 16:
                        pass
                except OSError:
                    pass
                room = self.rng.choice((0, 4, 8, 12, 16, 24, 40, 64, 100, 150, 250, 400)) << 10
                f.truncate(max(0, f.tell() - room))
            self.paths.append(path)

    def empty(self):
        for path in self.paths:
            os.unlink(path)
        self.paths = []


def review(*args):
    p = killed.subprocess.run([WARDFS, "review", *args], capture_output=True, text=True,
                              timeout=killed.BOUND, check=False)
    return p.returncode, p.stdout + p.stderr


class Points:
    def __init__(self):
        self.rng = random.Random(SEED)
        self.disks, self.n, self.failed, self.done = Disks(self.rng), 0, {}, {}

    def plan(self):
        self.n += 1
        return killed.Plan(random.Random(self.rng.getrandbits(32)), f"full{self.n}")

    def full(self, *args):
        """The command while the disk is full: whether it succeeded."""
        killed.HISTORY.append(args)
        # A running session without room for its trail does nothing (review-full-steps.sh).
        self.disks.fill([STORE] if args[0] in ("back", "mark") else self.rng.choice(
            ([TOP], [STATE], [STORE], [STORE], [TOP, STORE])))
        code, text = review(*args)
        self.disks.empty()
        verb = args[0]
        self.done[verb] = self.done.get(verb, 0) + 1
        self.failed[verb] = self.failed.get(verb, 0) + (code != 0)
        if code < 0 or code not in (0, 1, 125):
            killed.fail(f"{args}: exit {code}: {text}")
        return code == 0

    def applies(self):
        plan = self.plan()
        os.chdir(plan.project)
        s = killed.Session(plan)
        s.send(plan.ops(self.rng.randint(3, 20)))
        s.end(0)
        plan.untouched()
        self.check(plan)
        os.chdir(TOP)
        shutil.rmtree(plan.project)
        review("discard", "-s", plan.name)

    def check(self, plan):
        killed.review("apply", "-s", plan.name)
        after = killed.picture(plan.project, True)
        killed.review("undo", "-s", plan.name)
        plan.whole(plan.before, "undo")
        for _ in range(self.rng.randint(1, 4)):
            for verb, other, want in (("apply", "undo", after), ("undo", "apply", plan.before)):
                ended = self.full(verb, "-s", plan.name)
                plan.halfway(after)
                if ended:
                    plan.whole(want, f"{verb} that succeeded")
                if self.rng.random() < 0.3:
                    killed.review(other, "-s", plan.name, want=(0, 125))
                    plan.whole(after if other == "apply" else plan.before, f"{verb}, {other}")
                killed.review(verb, "-s", plan.name, want=(0, 125) if verb == "undo" else (0,))
                plan.whole(want, f"{verb}, with room")

    def back(self):
        plan = self.plan()
        os.chdir(plan.project)
        s = killed.Session(plan)
        seen = []
        for verb in ("mark", None):
            s.send([*plan.ops(10), ["look"]])
            while not s.out or s.out[-1][1] != "look":
                if not s.wait(len(s.out) + 1):
                    killed.fail(f"the session ended: {s.end()}")
            seen.append(sorted(tuple(e) for e in s.out.pop()[2:]))
            if verb:
                killed.review(verb, "first", "-s", plan.name)
        want = seen[1]
        for _ in range(self.rng.randint(1, 3)):
            if self.full(*(("back", "first") if self.rng.random() < 0.7 else ("mark",)), "-s",
                         plan.name) and killed.HISTORY[-1][0] == "back":
                want = seen[0]
            self.looks(s, want)
        if self.rng.random() < 0.5:
            killed.review("back", "first", "-s", plan.name)
            want = seen[0]
            self.looks(s, want)
        s.end()
        plan.untouched()
        killed.review("apply", "-s", plan.name)
        now = sorted((p, f[2]) for p, f in killed.picture(plan.project).items()
                     if f[0] == stat.S_IFREG)
        if now != want:
            killed.fail(f"applied: {set(now) ^ set(want)}")
        killed.review("undo", "-s", plan.name, want=(0, 125))
        plan.whole(plan.before, "back, apply, undo")
        os.chdir(TOP)
        shutil.rmtree(plan.project)
        review("discard", "-s", plan.name)

    def looks(self, s, want):
        s.send([["look"]])
        while not s.out or s.out[-1][1] != "look":
            if not s.wait(len(s.out) + 1):
                killed.fail(f"the session ended: {s.end()}")
        seen = sorted(tuple(e) for e in s.out.pop()[2:])
        if seen != want:
            killed.fail(f"the session sees: {set(seen) ^ set(want)}")

    def run(self):
        while sum(self.done.values()) < COUNT:
            self.rng.choice((self.applies, self.applies, self.back))()
        told = ", ".join(f"{k} {n} ({self.failed[k]} failed)" for k, n in sorted(self.done.items()))
        print(f"seed {SEED}: {told}")


print(f"seed {SEED}", flush=True)
Points().run()
