#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of a folder, with its rooms, use each other in no circle; a verb's file is used by a table alone."""
import os
from graphlib import CycleError, TopologicalSorter

from _objects import read_objects
from _sources import finish

# The folders that are held to this so far. A new one is added when it has no complaint.
FOLDERS = ("enforcer/base", "enforcer/ipc", "enforcer/policy", "enforcer/net", "enforcer/cli",
           "enforcer/auditd", "enforcer/hostd", "enforcer/modes", "enforcer/sandbox", "enforcer/session")
# Who may call a verb's file (cmd_*.c): those with the table that has the verb.
TABLES = {"main.c", "cmd_audit.c", "cmd_policy.c"}

defines, users = read_objects()
complaints, looked_at = [], []
for folder in FOLDERS:
    inside = {source: names for source, names in defines.items() if source.startswith(folder + "/")}
    looked_at += inside
    uses = {source: set() for source in inside}
    for source, names in inside.items():
        for user in set().union(*(users.get(name, set()) for name in names)) & (inside.keys() - {source}):
            uses[user].add(source)
            if os.path.basename(source).startswith("cmd_") and os.path.basename(user) not in TABLES:
                complaints.append(f"{user} uses {source}, which is the file of a verb")
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as circle:
        complaints.append("a circle: " + " <- ".join(circle.args[1]))
finish(complaints, looked_at)
