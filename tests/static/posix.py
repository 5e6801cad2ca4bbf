#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/posix.md: the table of what differs has at most forty rows, and each names tests that exist."""
import os
import re

import _sources

PAGE = "docs/posix.md"
ROWS_MAX = 40


def table(text):
    """The rows of the first table, each a list of cells."""
    lines = text[text.index("| what | where"):].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def wrong(rows):
    if len(rows) > ROWS_MAX:
        yield f"{len(rows)} rows, and {ROWS_MAX} are the most"
    for cells in rows:
        if len(cells) != 4:
            yield f"'{cells[0][:40]}': {len(cells)} cells"
            continue
        for case in cells[3].split(", "):
            path = f"tests/cases/{case}.sh"
            if not re.fullmatch(r"\w+/[\w-]+", case) or not os.path.exists(
                    os.path.join(_sources.SRC, path)):
                yield f"'{cells[0][:40]}': {path} does not exist"


def main():
    good = ["a", "b", "c", "fs/probe"]
    # The controls: each of these is found.
    if list(wrong([good])) or not list(wrong([["a", "b", "c", "fs/no-such"]])) \
            or not list(wrong([good[:3]])) or not list(wrong([good] * (ROWS_MAX + 1))) \
            or not list(wrong([["a", "b", "c", ""]])):
        raise SystemExit("control")
    rows = table(_sources.read(PAGE))
    _sources.finish([f"{PAGE}: {found}" for found in wrong(rows)], rows)


main()
