#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each exception of the suites of others names a row of docs/posix.md, which tells its cause."""
import re

import _sources

WHERE = "tests/external/exceptions"


def rows():
    """The first cells of the table."""
    lines = [l for l in _sources.read("docs/posix.md").splitlines() if l.startswith("| ")]
    return [line.split("|")[1].strip() for line in lines[1:]]


def main():
    complaints, count, table = [], 0, rows()
    for number, line in enumerate(_sources.read(WHERE).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        count += 1
        parts = line.split(None, 2)
        if len(parts) != 3 or ": " not in parts[2]:
            complaints.append(f"{WHERE}:{number}: not SUITE MODES TEST: ROW")
            continue
        test, row = parts[2].split(": ", 1)
        for pattern in (parts[1], test):
            try:
                re.compile(pattern)
            except re.error as e:
                complaints.append(f"{WHERE}:{number}: {pattern}: {e}")
        named = [cell for cell in table if cell.startswith(row.strip())]
        if len(named) != 1:
            complaints.append(f"{WHERE}:{number}: {len(named)} rows of docs/posix.md begin with "
                              f"'{row.strip()}'")
    _sources.finish(complaints, count and table)


main()
