#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every line of the lists of system calls has its reason, which says something without the line above it."""
import glob
import os
import sys

SRC = os.environ.get("WARD_SRC") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def faults(name, text):
    """Of one list: (line number, what is wrong)."""
    found, rules = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#") or line.startswith("include "):
            continue
        rules += 1
        rule, _, reason = line.partition("#")
        if len(rule.split()) < 2:
            found.append((number, "no action"))
        if len(reason.strip()) < 3:
            found.append((number, "no reason"))
        if reason.strip().lower().startswith(("the same", "ditto")):
            found.append((number, "a reason that needs the line above"))
    if rules == 0:
        found.append((0, "no line at all"))
    return [f"{name}:{n}: {what}" for n, what in found]


def main():
    # The control: each fault is found.
    for bad in ("read allow\n", "read allow #\n", "read allow # the same\n", "read # why not\n", "# nothing\n"):
        if not faults("x", bad):
            sys.exit(f"control: nothing found in {bad!r}")
    lists = sorted(glob.glob(os.path.join(SRC, "conf", "seccomp", "*.list")))
    if len(lists) < 4:
        sys.exit(f"only {lists}")
    found = []
    for path in lists:
        with open(path, encoding="utf-8") as f:
            found += faults(os.path.relpath(path, SRC), f.read())
    if found:
        sys.exit("\n".join(found))


main()
