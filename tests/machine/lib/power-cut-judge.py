#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""power-cut-judge.py WARDFS SESSION DIR ANSWERED: compares a trail with files and with answers.

Fails if a file that was answered has no record, or if a file has none: its record was on the disk
before the answer, so there is one such file at most.
"""
import json
import os
import subprocess
import sys

wardfs, session, directory, answered = sys.argv[1:4] + [int(sys.argv[4])]
done = subprocess.run([wardfs, "audit", "show", "--json", "--kind", "create", session], check=True,
                      capture_output=True, text=True)
recorded = {json.loads(line)["path"].removeprefix("/workspace/f") for line in done.stdout.splitlines()}
recorded = {int(number) for number in recorded if number.isdigit()}
files = {int(name[1:]) for name in os.listdir(directory) if name[0] == "f" and name[1:].isdigit()}
lost = sorted(set(range(1, answered + 1)) - recorded)
unrecorded = sorted(files - recorded)
print(f"{session}: {answered} answered, {len(recorded)} recorded, {len(files)} files")
if not recorded:
    sys.exit("no record of a file at all")
if lost:
    sys.exit(f"answered, and without a record: {lost[:10]}")
if len(unrecorded) > 1:
    sys.exit(f"files without a record: {unrecorded[:10]}")
