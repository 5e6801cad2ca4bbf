#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function and variable with external linkage is used by another file, of the programs or of the tests.

What only its own file uses is static; what nobody uses is removed.
"""
import re

from _objects import read_objects
from _sources import finish, read

# The folders that are held to this so far. A new one is added when it has no complaint.
FOLDERS = ("enforcer/base", "enforcer/ipc", "enforcer/modes", "enforcer/policy", "enforcer/net",
           "enforcer/sandbox", "enforcer/session", "enforcer/cli", "enforcer/auditd", "enforcer/hostd", "audit",
           "fs", "conf")
# What something outside of our files calls: so do programs that link libwardpolicy.
CALLED_FROM_OUTSIDE = {"main"} | set(re.findall(r"\b(ward_\w+);", read("enforcer/policy/wardpolicy.map")))

defines, users = read_objects()
complaints, looked_at = [], []
for source, names in sorted(defines.items()):
    if not source.startswith(tuple(folder + "/" for folder in FOLDERS)):
        continue
    looked_at.append(source)
    for name in sorted(names - CALLED_FROM_OUTSIDE):
        # Sanitizers add names of their own, which begin so.
        if not users.get(name, set()) - {source} and not name.startswith("__"):
            complaints.append(f"{source}: {name} is used by no other file: make it static, or remove it")
finish(complaints, looked_at)
