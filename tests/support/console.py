#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""console.py PAGE: runs the blocks of PAGE that are marked ```console, in order, where it is called.

A line that begins with "$ " is a command of sh, what follows is what it prints, stdout and stderr as
they come. In such a line an ellipsis stands for anything; a line of it alone for any lines, or none.
Fails where something else was printed, and where a page has no such block.
"""
import re
import subprocess
import sys

REST = "…"


def commands(page):
    """[(line number, command, [line it prints])] of a page."""
    found, inside = [], False
    with open(page, encoding="utf-8") as f:
        for number, line in enumerate(f.read().splitlines(), 1):
            if line.startswith("```"):
                inside = line == "```console"
            elif inside and line.startswith("$ "):
                found.append((number, line[2:], []))
            elif inside:
                found[-1][2].append(line)
    return found


def pattern(lines):
    parts = []
    for line in lines:
        if line == REST:
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(p) for p in line.split(REST)) + r"\n")
    return "".join(parts)


def main():
    page, wrong = sys.argv[1], 0
    told = commands(page)
    for number, command, lines in told:
        done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        printed = done.stdout if not done.stdout or done.stdout.endswith("\n") else done.stdout + "\n"
        if not re.fullmatch(pattern(lines), printed):
            wrong += 1
            print(f"{page}:{number}: $ {command}\n--- the page says\n" + "\n".join(lines) +
                  f"\n--- it prints\n{printed}")
    if not told:
        print(f"{page}: nothing to run")
    sys.exit(1 if wrong or not told else 0)


if __name__ == "__main__":
    main()
