#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""platforms.py RESULTS: a table in Markdown of what passed, by machine, kernel and user.

RESULTS is a file that `./bootstrap test --vm --results FILE` wrote. A list of every test that
failed or was skipped follows the table. docs/platforms.md contains the output.
"""
import collections
import sys
import textwrap


def item(text):
    print(textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False))


def read(path):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]


def groups(lines):
    """The lines by machine, boot, kernel, user, and the folder of the test."""
    found = collections.defaultdict(list)
    for machine, boot, user, test, kernel, date, verdict, reason in lines:
        found[machine, boot, kernel, user, test.rsplit("/", 1)[0]].append((test, date, verdict, reason))
    return found


def table(found):
    print("| machine | kernel | user | tests | passed | failed | skipped | date |\n|---|---|---|---|---|---|---|---|")
    for (machine, boot, kernel, user, folder), tests in sorted(found.items()):
        counts = collections.Counter(verdict for _, _, verdict, _ in tests)
        name = machine if boot == "default" else f"{machine}, {boot}"
        print(f"| {name} | {kernel} | {user} | {folder} | {counts['passed']} | {counts['failed']} "
              f"| {counts['skipped']} | {max(date for _, date, _, _ in tests)} |")


def exceptions(found):
    for verdict in ("failed", "skipped"):
        listed = [(key, test, reason) for key, tests in sorted(found.items())
                  for test, _, v, reason in sorted(tests) if v == verdict]
        print(f"\n## What was {verdict}\n" if verdict == "skipped" else "\n## What failed\n")
        for (machine, boot, _, user, _), test, reason in listed:
            where = machine if boot == "default" else f"{machine} ({boot})"
            item(f"`{test}`, {where}, {user}" + (f": {reason}" if reason else ""))
        if not listed:
            print("Nothing.")


def tested(found):
    print("\n## Every test that ran\n")
    for (machine, boot, _, user, folder), tests in sorted(found.items()):
        where = machine if boot == "default" else f"{machine} ({boot})"
        names = ", ".join(test.rsplit("/", 1)[1] for test, _, _, _ in sorted(tests))
        item(f"{where}, {user}, {folder}: {names}")


def main():
    found = groups(read(sys.argv[1]))
    print("## What ran\n")
    table(found)
    exceptions(found)
    tested(found)


if __name__ == "__main__":
    main()
