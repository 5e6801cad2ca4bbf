# SPDX-License-Identifier: Apache-2.0
"""Milliseconds that `true` takes: bare, in bwrap, in sessions of all kinds; one after the other."""
import json
import math
import os
import shutil
import subprocess
import sys
import time

from environments import BWRAP, quiet

# Of all rounds: fewer say nothing about the slowest in a hundred.
STARTS = 200
WARM = "[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n[session]\nwarm = 1\n"


def percentile(values, percent):
    """By nearest rank."""
    return sorted(values)[max(math.ceil(len(values) * percent / 100), 1) - 1]


def _probes(build, where):
    """Of the last session: from the record of what is in force to the verdicts of all probes. The
    command's own confinement is part of it."""
    show = [f"{build}/wardfs", "audit", "show", "--json", "latest"]
    out = subprocess.run(show, cwd=where, check=True, stdout=subprocess.PIPE).stdout
    records = [json.loads(line) for line in out.splitlines()]
    began = next(r["mono"] for r in records if r["kind"] == "session.start")
    return (max(r["mono"] for r in records if r["kind"] == "probe") - began) / 1e6


def _sessions(build, where):
    asked = [f"{build}/wardfs", "ps", "--json"]
    return json.loads(subprocess.run(asked, cwd=where, stdout=subprocess.PIPE, check=True).stdout)


def _until(build, where, what, condition):
    """Asks `wardfs ps` until a session meets the condition."""
    for _ in range(1000):
        if any(condition(s) for s in _sessions(build, where)):
            return
        time.sleep(0.02)
    sys.exit(f"bench: never: {what}")


def _timed(argv, where):
    began = time.monotonic()
    quiet(*argv, cwd=where, stdin=subprocess.DEVNULL)
    return 1000 * (time.monotonic() - began)


def _warm(build, where, count):
    """Of runs that take a session that was prepared. The preparing is not measured."""
    def prepared(session):
        return session.get("prepared") and session["project"] == os.path.realpath(where)

    policy = os.path.join(where, "..", ".warm.policy")
    with open(policy, "w", encoding="ascii") as f:
        f.write(WARM)
    argv = [f"{build}/wardfs", "run", "--policy", policy, "--", "true"]
    quiet(*argv, cwd=where, stdin=subprocess.DEVNULL)
    for _ in range(count):
        _until(build, where, "a session is prepared", prepared)
        yield _timed(argv, where)
    # Runs of other rows start otherwise while one waits.
    _until(build, where, "a session is prepared", prepared)
    for session in _sessions(build, where):
        if prepared(session):
            quiet(f"{build}/wardfs", "kill", session["session"])


def rows(build, where, rounds):
    """Of one round. Lists by name."""
    count = math.ceil(STARTS / rounds)
    wardfs, kept = f"{build}/wardfs", f"bench-{time.monotonic_ns()}"
    commands = {"native": ["true"], "guarded": [wardfs, "run", "--", "true"],
                "exec": [wardfs, "exec", kept, "--", "true"]}
    if shutil.which("bwrap"):
        commands["bwrap"] = BWRAP + ["true"]
    times = {name: [] for name in (*commands, "probes")}
    # Not the same project: two sessions of one watch each other's changes.
    elsewhere = os.path.join(where, "..", "kept")
    os.makedirs(elsewhere, exist_ok=True)
    with subprocess.Popen([wardfs, "run", "--session", kept, "--", "sleep", "86400"], cwd=elsewhere,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        try:
            _until(build, where, "a session runs", lambda s: s["session"] == kept)
            for number in range(count):
                for name, argv in commands.items():
                    times[name].append(_timed(argv, where))
                    if name == "guarded" and number < 5:
                        times["probes"].append(_probes(build, where))
        finally:
            quiet(wardfs, "kill", kept)
    times["warm"] = list(_warm(build, where, count))
    return times
