#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No two messages between our processes have one number: enums do not mind, and a merge makes it."""
import collections
import re

from _sources import finish, read

found = collections.defaultdict(list)
for name, number in re.findall(r"^\s*(WARD_MSG_[A-Z_]+) = (\d+)", read("enforcer/ipc/helper.h"), re.M):
    found[int(number)].append(name)
complaints = [f"enforcer/ipc/helper.h: {n} is {' and '.join(names)}"
              for n, names in found.items() if len(names) > 1]
finish(complaints, found)
