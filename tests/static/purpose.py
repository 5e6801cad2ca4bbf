#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every .c file says in a comment under its SPDX line what it is for: one sentence before anything else."""
import re

from _sources import files, finish, read

# The folders that are held to this so far. A new one is added when it has no complaint.
FOLDERS = ("enforcer/base", "enforcer/ipc", "enforcer/modes", "enforcer/policy", "enforcer/net",
           "enforcer/sandbox", "enforcer/session", "enforcer/cli", "enforcer/auditd", "enforcer/hostd", "enforcer/send", "audit",
           "fs", "conf")
# The comment, and in it the end of a sentence.
PURPOSE = re.compile(r"/\* SPDX-License-Identifier: Apache-2\.0 \*/\n/\*(?:(?!\*/).){15,}?\.\s", re.S)
complaints, looked_at = [], []
for folder in FOLDERS:
    for path in files(".c", below=folder):
        looked_at.append(path)
        if not PURPOSE.match(read(path)):
            complaints.append(f"{path}: no comment under the SPDX line says what the file is for")
finish(complaints, looked_at)
