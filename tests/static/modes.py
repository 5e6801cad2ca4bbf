#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of modes is the only place that knows a mode by name, and docs/wardfs-policy.5.md lists its words.

- docs/wardfs-policy.5.md, section Modes, has each word of enforcer/modes/table/modes.def, and no other. So does the
  sentence on strictness, in the order of the table.
- Outside of enforcer/modes no code looks up a mode by a literal word or compares one.
- The session and the command line call no operation of the sandbox beside enforcer/modes/modes.h.
"""
import re

from _sources import files, finish, read

TABLE, PAGE = "enforcer/modes/table/modes.def", "docs/wardfs-policy.5.md"
# Whoever calls these beside the mode's operations starts or ends a command that the mode knows
# nothing of.
BESIDE = re.compile(r"\bward_sandbox_(begin|staged|mapped|ready|create|probe|start|next|exec|exec_signal|signal"
                    r"|kill|free)\(")
BY_NAME = re.compile(r'\bWARD_MODE_\w+|ward_mode_find\("|\bstrn?cmp\([^;]*mode->word|->mode == &|&ward_modes\[')

complaints = []
words = re.findall(r'^WARD_MODE\(\w+, "([a-z]+)"', read(TABLE), re.M)
section = re.search(r"^## Modes\n(.*?)^## ", read(PAGE), re.M | re.S)
text = section.group(1) if section else ""
rows = re.findall(r"^\|([^|]*)\|", text, re.M)
told = [w for row in rows for w in re.findall(r"`([a-z]+)`", row)]
for word in sorted(set(words) ^ set(told)):
    complaints.append(f"{PAGE}, Modes: {word} stands in {'the table of modes' if word in words else 'the page'} alone")
order = re.search(r"the stricter mode wins: (.*), the strictest first", " ".join(text.split()))
if not order or re.findall(r"`([a-z]+)`", order.group(1)) != words:
    complaints.append(f"{PAGE}, Modes: the stricter mode wins: not in the order of {TABLE}")
looked_at = 0
for path in files(".c", ".h"):
    if path.startswith(("tests/", "enforcer/modes/")):
        continue
    looked_at += 1
    for number, line in enumerate(read(path).splitlines(), 1):
        found = BY_NAME.search(line)
        if found:
            complaints.append(f"{path}:{number}: asks for a mode by name: {found.group(0)}")
        found = path.startswith(("enforcer/session/", "enforcer/cli/")) and BESIDE.search(line)
        if found:
            complaints.append(f"{path}:{number}: {found.group(0)[:-1]} beside the mode's operations")
finish(complaints, looked_at and words and told)
