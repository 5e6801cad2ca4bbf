#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/controls.md names records as they are: what stands in its columns for wardfs is a kind, a member
or an export that the page of the format or this build has; and OCSF as the tests have its schema."""
import re

from _sources import finish, read

PAGE = "docs/controls.md"
FORMAT = read("docs/audit-format.md") + read("audit/record_kinds.def") + \
    read("audit/record_members.def") + read("docs/wardfs-policy.5.md")
SCHEMA = read("tests/support/ocsf-1.3.0.txt")
# Columns of tables that are about wardfs, by the first cell of their head.
OURS = {"auditd": [1], "records": [0], "ECS": [1], "kind": [0], "criterion asks": [1],
        "paragraph 2 asks for events that help to": [1]}
# Words of those columns that are values or options, no names of records.
OTHER = {"FILE:LINE", "TIME", "--to"}


def known(word):
    return re.search(rf"[`\"'( ]{re.escape(word)}[`\"'), .:;]", FORMAT) is not None


complaints, looked_at, columns = [], [], []
for number, line in enumerate(read(PAGE).splitlines(), 1):
    if not line.startswith("|"):
        columns = []
        continue
    cells = [c.strip() for c in line.strip("|").split("|")]
    columns = OURS.get(cells[0], columns)
    for column in columns:
        for words in re.findall(r"`([^`]+)`", cells[column]):
            if words.startswith("wardfs "):
                continue
            for word in words.split():
                looked_at.append(word)
                if word not in OTHER and not known(word):
                    complaints.append(f"{PAGE}:{number}: no record has {word}")
    # OCSF: "1001 File System Activity"
    for uid, name in re.findall(r"\| (\d+) ([A-Z][A-Za-z ]+) \|", line):
        looked_at.append(uid)
        if not re.search(rf"^class {uid} ", SCHEMA, re.M):
            complaints.append(f"{PAGE}:{number}: the schema has no class {uid}, {name}")
if len(looked_at) < 100:
    complaints.append(f"{PAGE}: only {len(looked_at)} names of records were found")
finish(complaints, looked_at)
