# SPDX-License-Identifier: Apache-2.0
"""The rows of the bench, what each is to reach, and how they are printed."""
import shutil
import statistics

import driver
import engines
import projects
import replay
import review
import starts
import workloads
from environments import PEERS

# Row: (section, what it is called in the table, the ratio to reach as root on a quiet machine).
ROWS = {
    "find-cold": ("find", "find, cold", 1.8),
    "find-warm": ("find", "find, warm", None),
    "open-cold": ("open", "open+read+close 10k, cold", 7),
    "open-warm": ("open", "open+read+close 10k, warm", 7),
    "git-status-cold": ("git-status", "git status 20k, cold", 4),
    "git-status-warm": ("git-status", "git status 20k, warm", 1.15),
    "tar-x": ("tar", "tar -x 4k", 1.4),
    "rm-r": ("tar", "rm -r 4k", 2.5),
    "git-checkout": ("checkout", "git checkout of 4k files", None),
    "read-seq": ("io", "read, sequential", 1.05),
    "read-again": ("io", "read, sequential, again", 1.05),
    "read-rand": ("io", "read, 4 KiB random", 1.05),
    "write-seq": ("io", "write, sequential", 1.05),
    "write-rand": ("io", "write, 4 KiB random", None),
    "write-seq-quota": ("quota", "write, sequential, byte quota", 2),
    "write-rand-quota": ("quota", "write, 4 KiB random, byte quota", 4),
    "c-build": ("c-build", "C build", 1.03),
    "sqlite": ("sqlite", f"sqlite, {driver.INSERTS} inserts", 2.4),
    "sqlite-sync": ("sqlite", f"sqlite, {driver.SYNCED} inserts, on disk each", 2.4),
    "npm-ci": ("npm", f"npm ci, {projects.NPM_PACKAGES} packages", 1.4),
    "git-clone": ("clone", f"git clone of {workloads.CLONED_DIRS * workloads.CLONED_FILES:,} files", None),
    "rg-cold": ("search", f"rg over {workloads.SEARCHED_DIRS * workloads.SEARCHED_FILES:,} files, cold", None),
    "rg-warm": ("search", f"rg over {workloads.SEARCHED_DIRS * workloads.SEARCHED_FILES:,} files, warm", None),
    "cargo-build": ("cargo", "cargo build of a small crate", None),
    "pytest": ("pytest", f"pytest, {workloads.PYTEST_MODULES * workloads.PYTEST_TESTS} tests", None),
    "vite-build": ("vite", f"vite build of {workloads.VITE_MODULES} modules", None),
    "start": ("start", "start of `-- true`, ms", None),
    "policy": ("policy", "policy of 10, 1,000, 10,000 rules", None),
    "trail": ("trail", "records to disk, verification", None),
    "sessions": ("sessions", "questions over many sessions", None),
    "replay": ("replay", "git checkout outside, with a session that watches", None),
    "net": ("net", "start, streams and connections through the broker", None),
    "wasm": ("wasm", "mode wasm: start, Fibonacci, JSON", None),
    "image": ("image", "start with an unpacked image", None),
    "container": ("container", "start in each container engine", None),
    "weight": ("weight", "memory and processes in each container engine", None),
    "tasks": ("tasks", "100 tasks, 8 at a time", None),
    "ask": ("ask", "a question on the screen, its answer", None),
    "review": ("review", "staged changes: steps, apply, undo", None),
}
# Against the same guard without review.
REVIEW = {"npm-ci": 1.3, "c-build": 1.05, "git-checkout": 2.0, "read-seq": 1.5, "read-again": 1, "read-rand": 1,
          "write-seq": 1}
ROOTLESS = {"read-seq": 3, "read-again": 1.1, "read-rand": 1.1}
# Of the row `sessions`: what `wardfs audit` is asked.
QUESTIONS = {"list": ["list"], "list-all": ["list", "--limit", "all"], "list-kind": ["list", "--kind", "deny"],
             "list-label": ["list", "--label", "ticket=A-17"], "network": ["network"],
             "network-host": ["network", "--host", "example.org"], "guarantees": ["guarantees"],
             "summary": ["summary", "s000001"]}
# Rows that are no ratio to native.
ALONE = ("start", "policy", "trail", "sessions", "net", "replay", "wasm", "image", "container", "weight", "tasks",
         "ask", "review")
# Rows that are measured once more in a session of which one thing is left out: what that thing
# costs, in percent, and what it may.
LESS = (("tar-x", "unwatched", "watches on the backing", 5),
        ("open-cold", "denials", "records of opens (against log = denials)", 10),
        ("open-warm", "denials", "records of opens (against log = denials)", 10),
        ("c-build", "denials", "records of opens (against log = denials)", 2))


def table(times, wanted):
    """Prints the rows; returns them with medians and ratios for --json."""
    result = {}
    names = {name for row, values in times.items() if row not in ALONE for name in values}
    always = ("guarded", "bindfs", "fuse-overlayfs", "bwrap")
    columns = [n for n in ("guarded", "io_uring", "review", "rootless", "hostd", *engines.SHARING, "only-runc", "oci-runc",
                           *always[1:]) if n in names or n in always]
    print(f"{'':34} {'native':>10} " + " ".join(f"{n[-9:]:>9}" for n in columns)
          + f" {'to reach':>9}")
    for row in wanted:
        if row not in times or row in ALONE:
            continue
        median = {name: statistics.median(v) for name, v in times[row].items()}
        ratio = {n: m / median["native"] for n, m in median.items() if n != "native"}
        result[row] = {"median": median, "ratio": ratio, "rounds": times[row]}
        shown = [f"{ratio[n]:.2f}" if n in ratio else "–" for n in columns]
        goal = ROWS[row][2]
        print(f"{ROWS[row][1]:34} {median['native']:8.4f} s " +
              " ".join(f"{s:>9}" for s in shown) + f" {'≤ ' + str(goal) if goal else '':>9}")
    if "rootless" in names:
        said = [f"{ROWS[row][1]} {r['ratio']['rootless']:.2f}" for row, r in result.items()
                if "rootless" in r["ratio"] and r["ratio"]["rootless"] > ROOTLESS.get(
                    row, 2 * r["ratio"].get("guarded", 0))]
        print("rootless, to reach: first reads ≤ 3, later ones ≤ 1.1, the rest within twice of root's"
              + (": above that " + ", ".join(said) if said else ": reached"))
    staged = {row: r["median"]["review"] / r["median"]["guarded"] for row, r in result.items()
              if "review" in r["median"] and "guarded" in r["median"]}
    if staged:
        print("review against the same guard without it: " + ", ".join(
            f"{ROWS[row][1]} {ratio:.2f}" + (f" (to reach: ≤ {REVIEW[row]})" if row in REVIEW else "")
            for row, ratio in staged.items()))
    for row, without, what, goal in LESS:
        if row in result and without in times[row]:
            median = result[row]["median"]
            cost = 100 * (median["guarded"] / median[without] - 1)
            print(f"{what} cost {ROWS[row][1]} {cost:.1f} % (to reach: ≤ {goal} %)")
    if "start" in times:
        median = {name: statistics.median(v) for name, v in times["start"].items()}
        p99 = {name: starts.percentile(v, 99) for name, v in times["start"].items()}
        result["start"] = {"median_ms": median, "p99_ms": p99, "rounds": times["start"]}
        print(f"start of `true`, {len(times['start']['guarded'])} of each, ms (median, p99): " +
              ", ".join(f"{n} {median[n]:.1f} {p99[n]:.1f}" for n in sorted(median) if n != "probes") +
              " (to reach: twice bwrap's, p99 twice the median)")
        if "probes" in median:
            print(f"probes before the command, all together, and what they are made behind: "
                  f"{median['probes']:.1f} ms (to reach: ≤ 3)")
    if "policy" in times:
        median = {name: statistics.median(v) for name, v in times["policy"].items()}
        result["policy"] = {"median": median, "rounds": times["policy"]}
        step = [median[f"step-{n}"] * 1e9 for n in (10, 1000, 10000)]
        print(f"policy of 10, 1,000, 10,000 rules: a step takes {step[0]:.0f}, {step[1]:.0f}, "
              f"{step[2]:.0f} ns (to reach: ≤ 100, within 1.5 of each other: "
              f"{max(step) / min(step):.2f}); 10,000 compile in "
              f"{median['compile-10000'] * 1e3:.0f} ms (to reach: < 100)")
        more = (median["decide-1000"] - median["decide-0"]) * 1e9
        refused = (median["refuse-1000"] - median["refuse-0"]) * 1e9
        print(f"1,000 live grants add {more:+.1f} ns to a decision that the rules allow, and {refused:+.1f} ns "
              f"to one of {median['refuse-0'] * 1e9:.0f} ns that they refuse (to reach: ≤ 5)")
    if "trail" in times:
        median = {name: statistics.median(v) for name, v in times["trail"].items()}
        result["trail"] = {"median": median, "rounds": times["trail"]}
        print(f"trail: {median['writer-records-per-s']:,.0f} records in a second of the writer's "
              f"CPU, from a ring to disk (to reach: ≥ 300,000; {median['records-per-s']:,.0f} by "
              f"the clock), {median['bytes-per-record']:.0f} bytes a record (≤ 450); verified in "
              f"a second of CPU: with the root key {median['verify-MB-per-s']:.0f} MB, with a public key "
              f"{median['verify-public-MB-per-s']:.0f} MB (≥ 250)")
        print(f"index: {median['indexed-per-s']:,.0f} records in a second of CPU (≥ 200,000), a "
              f"question about one file among {median['records']:,.0f}: {median['question-ms']:.0f} ms (< 100)")
        print(f"compressed: {median['packed-bytes-per-record']:.1f} bytes a record (≤ 60), in a second of "
              f"CPU {median['packed-MB-per-s']:.0f} MB; verified {median['verify-packed-MB-per-s']:.0f} MB")
    if "sessions" in times:
        median = {name: statistics.median(v) for name, v in times["sessions"].items()}
        result["sessions"] = {"median_ms": median, "rounds": times["sessions"]}
        print(f"questions over {median['sessions']:,.0f} sessions, ms of CPU (to reach: < 100): " +
              ", ".join(f"{name} {median[name]:.0f}" for name in QUESTIONS))
    if "replay" in times:
        median = {name: statistics.median(v) for name, v in times["replay"].items()}
        result["replay"] = {"median": median, "rounds": times["replay"]}
        print(replay.said(median))
    if "container" in times:
        median = {name: statistics.median(v) for name, v in times["container"].items()}
        result["container"] = {"median_ms": median, "rounds": times["container"]}
        print("start of `true` in containers, median ms: " +
              ", ".join(f"{name} {value:.1f}" for name, value in median.items()))
    if "weight" in times:
        median = {name: statistics.median(v) for name, v in times["weight"].items()}
        result["weight"] = {"median": median, "rounds": times["weight"]}
        print("a session whose command sleeps: " + ", ".join(f"{n} {v:.1f}" for n, v in median.items()))
    if "ask" in times:
        median = {name: statistics.median(v) for name, v in times["ask"].items()}
        result["ask"] = {"median_ms": median, "rounds": times["ask"]}
        print(f"question on the screen, median ms: {median['watch']:.0f} with `approve --watch`, "
              f"{median['panel']:.0f} in the panel; its answer acts after {median['approve']:.0f} by "
              f"`approve QUESTION once`, {median['key']:.0f} by a key of the panel (to reach: ≤ 50)")
    if "tasks" in times:
        median = {name: statistics.median(v) for name, v in times["tasks"].items()}
        result["tasks"] = {"median_ms": median, "rounds": times["tasks"]}
        print("100 tasks, 8 at a time, median ms: " +
              ", ".join(f"{name} {value:.1f}" for name, value in median.items()))
    if "review" in times:
        m = {name: statistics.median(v) for name, v in times["review"].items()}
        result["review"] = {"median": m, "rounds": times["review"]}
        print(review.said(m))
    if "image" in times:
        median = {name: statistics.median(v) for name, v in times["image"].items()}
        result["image"] = {"median_ms": median, "rounds": times["image"]}
        print("image, median ms: " + ", ".join(f"{n} {v:.1f}" for n, v in sorted(median.items())) +
              " (to reach: start-image within 3 of start-restricted)")
    if "wasm" in times:
        median = {name: statistics.median(v) for name, v in times["wasm"].items()}
        result["wasm"] = {"median_ms": median, "rounds": times["wasm"]}
        print("mode wasm, median ms: " + ", ".join(f"{n} {v:.1f}" for n, v in sorted(median.items())) +
              " (to reach: start-wasm within 5 of start-restricted)")
    if "net" in times:
        median = {name: statistics.median(v) for name, v in times["net"].items()}
        result["net"] = {"median": median, "rounds": times["net"]}
        print(f"network: mode = allowlist adds "
              f"{1000 * (median['start-allowlist'] - median['start-none']):.1f} ms to a start (to reach: "
              f"≤ 3); one stream has {100 * median['stream-direct'] / median['stream-guarded']:.0f} % of "
              f"direct loopback (≥ 60 %), short connections take "
              f"{median['short-guarded'] / median['short-direct']:.2f} times direct ones (≤ 3); "
              f"wardfs-net with 1,000 streams that nobody reads: {median['many-MB']:.0f} MB (≤ 64)")
    elif "net" in wanted:
        print("network: needs root, and the guard: not measured")
    for peer in PEERS:
        if not shutil.which(peer.name):
            print(f"{peer.name} is not installed.")
    return result
