#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documentation links to exists. Each decision has a number of its own, in name, title and
link, and says context and decision."""
import os
import re

from _sources import SRC, files, finish, read

complaints, pages = [], files(".md")
for page in pages:
    for number, line in enumerate(read(page).splitlines(), 1):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            for said, meant in re.findall(r"\[ADR (\d+)\]\([^)]*adr/0*(\d+)-", line):
                if said != meant:
                    complaints.append(f"{page}:{number}: ADR {said} leads to ADR {meant}")
            if not os.path.exists(os.path.join(SRC, os.path.dirname(page), target)):
                complaints.append(f"{page}:{number}: links to {target}, which does not exist")
numbers = {}
for page in pages:
    decision = re.match(r"docs/adr/(\d{4})-", page)
    if not decision:
        continue
    title = re.match(r"# (\d+)\. ", read(page))
    if not title or int(title[1]) != int(decision[1]):
        complaints.append(f"{page}: its title has another number")
    headings = " ".join(re.findall(r"^## (.*)$", read(page), re.M))
    if not re.search(r"\bContext\b", headings) or not re.search(r"\b[Dd]ecision\b", headings):
        complaints.append(f"{page}: no heading says the context, or none the decision")
    if decision[1] in numbers:
        complaints.append(f"{page}: {numbers[decision[1]]} has that number")
    numbers[decision[1]] = page
finish(complaints, pages)
