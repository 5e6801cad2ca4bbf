#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coordinator.py [--at-once N] [--wardfs PROGRAM] TASKS RESULTS: a container for each task.

TASKS is a file of JSON: a list of objects with
    name      a word; the session, and a directory of RESULTS, have this name
    project   a directory; the task gets a copy of its own
    command   a list of strings
    policy    optional: a profile or a file
    mode      optional: docker unless it says otherwise
    engine    optional: runc, crun or runsc
    net       optional: a list of hosts, or HOST:PORT
RESULTS must not exist. Afterwards each task has there
    tree/         the copy, as the task left it
    output        what the command printed
    messages      the same of standard error, where wardfs also tells
    trail.jsonl   what it did, record by record
    result.json   {"name", "session", "status", "cause", "refused", "verified", "start_ms", "ms"}
and result.json of RESULTS has all of them. Exits with 0 if each command did and each trail is
intact, else with 1.

Nothing of a tree is executed or interpreted here: what an agent wrote may be an attack.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")


def command_of(task, options, status_fd):
    """The command line of wardfs; the command itself is behind the last of its options."""
    line = [options.wardfs, "run", "--session", task["name"], "--label", "task=" + task["name"],
            "--status-fd", str(status_fd), "--mode", task.get("mode", "docker")]
    for option in "engine", "policy":
        if option in task:
            line += ["--" + option, task[option]]
    for host in task.get("net", []):
        line += ["--net", host]
    return line + ["--", *task["command"]]


def run(task, options):
    """One task, from the copy of its tree to its trail."""
    place = os.path.join(options.results, task["name"])
    tree = os.path.join(place, "tree")
    os.mkdir(place)
    shutil.copytree(task["project"], tree, symlinks=True)
    ours, theirs = os.pipe()
    begin = time.monotonic()
    result = {"name": task["name"], "session": None, "status": None, "cause": None, "refused": 0,
              "verified": False, "start_ms": None}
    with open(os.path.join(place, "output"), "wb") as output, \
            open(os.path.join(place, "messages"), "wb") as messages:
        process = subprocess.Popen(command_of(task, options, theirs), cwd=tree, pass_fds=[theirs],
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=messages)
    os.close(theirs)
    # Events, a line each; the last one is "ended". Without it the session could not begin.
    with open(ours, encoding="utf-8") as events:
        for event in map(json.loads, events):
            if event["event"] == "session":
                result["session"] = event["session"]
            elif event["event"] == "started":
                result["start_ms"] = round(1000 * (time.monotonic() - begin), 1)
            elif event["event"] == "ended":
                result.update({key: event[key] for key in ("status", "cause", "refused")})
    status = process.wait()
    result["status"] = status if result["status"] is None else result["status"]
    result["ms"] = round(1000 * (time.monotonic() - begin), 1)
    if result["session"]:
        collect(result, place, options)
    write(os.path.join(place, "result.json"), result)
    return result


def collect(result, place, options):
    """The trail, and whether it is whole."""
    with open(os.path.join(place, "trail.jsonl"), "wb") as trail:
        shown = subprocess.run([options.wardfs, "audit", "show", "--json", result["session"]],
                               stdin=subprocess.DEVNULL, stdout=trail, check=False)
    verify = subprocess.run([options.wardfs, "audit", "verify", result["session"]],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, check=False)
    result["verified"] = shown.returncode == 0 and verify.returncode == 0


def write(path, what):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(what, f, indent=1)
        f.write("\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--at-once", type=int, default=os.cpu_count())
    parser.add_argument("--wardfs", default="wardfs")
    parser.add_argument("tasks")
    parser.add_argument("results")
    options = parser.parse_args()
    with open(options.tasks, encoding="utf-8") as f:
        tasks = json.load(f)
    names = [task["name"] for task in tasks]
    for name in names:
        if not NAME.fullmatch(name) or names.count(name) > 1:
            sys.exit(f"coordinator: '{name}' is no name, or the name of two tasks")
    # Nobody else reads what tasks made, or puts something in their place.
    os.mkdir(options.results, 0o700)
    options.results = os.path.abspath(options.results)
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        results = list(pool.map(lambda task: run(task, options), tasks))
    seconds = time.monotonic() - begin
    write(os.path.join(options.results, "result.json"), results)
    failed = [r["name"] for r in results if r["status"] != 0 or not r["verified"]]
    print(f"{len(results)} tasks, {options.at_once} at a time, {seconds:.1f} s, "
          f"{len(failed)} failed{': ' if failed else ''}{' '.join(failed[:10])}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
