#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documentation links to exists."""
import os
import re

from _sources import SRC, files, finish, read

complaints, pages = [], files(".md")
for page in pages:
    for number, line in enumerate(read(page).splitlines(), 1):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            if not os.path.exists(os.path.join(SRC, os.path.dirname(page), target)):
                complaints.append(f"{page}:{number}: links to {target}, which does not exist")
finish(complaints, pages)
