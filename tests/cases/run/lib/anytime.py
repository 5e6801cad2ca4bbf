#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""anytime.py KILLS SEED: SIGKILL to one of the processes of a session, at any moment of its set-up or after.

This process is the subreaper of all that a session starts: what it does not inherit and reap is left
behind. Exits with a message that names the kill; the same seed makes the same choices.
"""
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time

WARDFS = os.environ["WARDFS"]
RUNTIME = os.environ["XDG_RUNTIME_DIR"] + "/wardfs"
STATE = os.environ["XDG_STATE_HOME"] + "/wardfs"
OURS = ("wardfs", "wardfs-init", "wardfs-fs", "wardfs-audit", "wardfs-net")
# Only ends a wait that would never end.
PATIENCE = 120.0
# As long as a start may take here: what is chosen beyond it falls on a running session.
SPREAD = 0.04


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(n) for n in f.read().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""


def descendants(pid):
    found, todo = [], [pid]
    while todo:
        here = children(todo.pop())
        found += here
        todo += here
    return found


def number_inside(pid):
    """Its number in the session's own pid namespace; 0: it is not in one."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            found = [line.split()[2] for line in f if line.startswith("NSpid:") and len(line.split()) == 3]
    except OSError:
        return 0
    return int(found[0]) if found else 0


def held(pid):
    """Stops it, so that it cannot end by itself; False where it has."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(pid, signal.SIGSTOP)
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                state = f.read().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state in "TZX":
            return state == "T"
    return False


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as f:
        return sorted(line for line in f if "wardfs" in line)


def groups(session):
    found = []
    for directory, names, _ in os.walk("/sys/fs/cgroup"):
        if os.path.basename(directory) == "wardfs":
            found += [f"{directory}/{n}" for n in names if n == session or n.startswith(session + ".")]
    return found


def reap(seconds):
    """Waits for every process that is below this one to end; what is left after that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)
        except ChildProcessError:
            return []
    return [(p, name_of(p)) for p in descendants(os.getpid())]


def choose(rng, run, kind, delay):
    """The victim: one of its kind, this long after the first of them is there."""
    end = time.monotonic() + PATIENCE
    while kind != "wardfs" and time.monotonic() < end:
        if any(name_of(p) == kind for p in descendants(run.pid)) or run.poll() is not None:
            break
    until = time.monotonic() + delay
    while time.monotonic() < until:
        pass
    if kind == "wardfs":
        return run.pid
    some = sorted(p for p in descendants(run.pid) if name_of(p) == kind)
    return rng.choice(some) if some else None


def fail(what, text):
    sys.exit(f"FAIL: {what}: {text}")


def one(rng, seed, number):
    session = f"any{os.getpid()}-{number}"
    kind = rng.choice(OURS)
    net = kind == "wardfs-net" or rng.random() < 0.2
    delay = rng.random() * SPREAD
    what = f"seed {seed}, kill {number}: {kind} after {delay * 1000:.1f} ms"
    # A start also has a writer for each trail that an earlier one left open, and goes on without
    # that.
    if kind == "wardfs-audit" and os.listdir(STATE + "/running"):
        subprocess.run([WARDFS, "run", "--policy", "../plain.policy", "--", "true"], stdin=subprocess.DEVNULL, check=True)
        reap(PATIENCE)
    with open("../err", "w", encoding="utf-8") as err:
        run = subprocess.Popen([WARDFS, "run", "--policy", "../net.policy" if net else "../plain.policy", "--session",
                                session, "--", "sleep", "86399"], stdin=subprocess.DEVNULL, stderr=err)
    victim = choose(rng, run, kind, delay)
    moment = "killed"
    if victim is None or not held(victim):
        victim, moment = None, "none was there"
    elif kind == "wardfs-init" and number_inside(victim) != 1:
        # Who makes the sandbox, and may have done so; who becomes the command; who starts further
        # commands inside, replays or walks, and may be ended from there
        # (enforcer/sandbox/init/starter.c, replayer.c, warm.c).
        moment = "another one than pid 1 killed"
    if victim is not None:
        os.kill(victim, signal.SIGKILL)
    if moment != "killed":
        while "sleep" not in [name_of(p) for p in descendants(run.pid)] and run.poll() is None:
            time.sleep(0.001)
        run.send_signal(signal.SIGTERM)
    try:
        status = run.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        fail(what, f"the session goes on: {[(p, name_of(p)) for p in descendants(run.pid)]}")
    left = reap(PATIENCE)
    if left:
        fail(what, f"processes are left: {left}")
    with open("../err", encoding="utf-8", errors="replace") as f:
        said = f.read()
    if victim == run.pid and status != -signal.SIGKILL:
        fail(what, f"the supervisor's status is {status}: {said}")
    want = {"killed": [125], "none was there": [143]}.get(moment, [125, 137, 143])
    if victim != run.pid and (status not in want or (status == 125 and not said.strip())):
        fail(what, f"{moment}: exit {status}, {said!r}")
    # A supervisor that lived has cleared up itself.
    if victim != run.pid and (os.listdir(RUNTIME) or groups(session)):
        fail(what, f"left by a supervisor that lived: {os.listdir(RUNTIME)} {groups(session)}")
    return session, what, moment


def check(before, sessions, what):
    """After the next start nothing is left of any of them but their trails."""
    run = subprocess.run([WARDFS, "run", "--policy", "../plain.policy", "--", "true"], stdin=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, check=False)
    if run.returncode != 0:
        fail(what, f"the next start: {run.returncode}: {run.stderr.decode()}")
    if reap(PATIENCE):
        fail(what, "the next start left processes")
    now = (mounts(), [g for s in sessions for g in groups(s)], os.listdir(RUNTIME), os.listdir(os.environ["TMPDIR"]),
           os.listdir(STATE + "/running"), sorted(os.listdir(STATE)), os.listdir("."))
    if now != before:
        fail(what, f"before: {before}\nafter: {now}")
    for s in os.listdir(STATE + "/sessions"):
        got = subprocess.run([WARDFS, "audit", "verify", s], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        bad = [w for w in ("edited", "truncated", "deleted", "reordered") if w in got.stdout.decode()]
        if bad:
            fail(what, f"{s}: {got.stdout.decode()}")


def main():
    kills, seed = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
        sys.exit("FAIL: no subreaper")
    subprocess.run([WARDFS, "run", "--policy", "../plain.policy", "--", "true"], stdin=subprocess.DEVNULL, check=True)
    reap(PATIENCE)
    before = (mounts(), [], [], [], os.listdir(STATE + "/running"), sorted(os.listdir(STATE)), os.listdir("."))
    control()
    done, met = [], {}
    for number in range(kills):
        session, what, moment = one(rng, seed, number)
        done.append(session)
        met[moment] = met.get(moment, 0) + 1
        if number % 8 == 7 or number == kills - 1:
            check(before, done, what)
    print(json.dumps(met))


def control():
    """The same looks find a session that runs."""
    run = subprocess.Popen([WARDFS, "run", "--policy", "../plain.policy", "--session", "control", "--", "sleep", "86399"],
                           stdin=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE
    while "sleep" not in [name_of(p) for p in descendants(run.pid)]:
        if time.monotonic() > end or run.poll() is not None:
            fail("control", "not started")
        time.sleep(0.01)
    names = {name_of(p) for p in descendants(run.pid)}
    if not {"wardfs-init", "wardfs-fs", "wardfs-audit"} <= names:
        fail("control", f"processes: {names}")
    if os.listdir(RUNTIME) != ["control"] or os.listdir(STATE + "/running") != ["control"]:
        fail("control", f"{os.listdir(RUNTIME)} {os.listdir(STATE + '/running')}")
    if os.geteuid() == 0 and not groups("control"):
        fail("control", "no control group")
    run.send_signal(signal.SIGTERM)
    run.wait(PATIENCE)
    reap(PATIENCE)


main()
