#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages about records say what the two tables of audit/ have: kinds, members, columns, the schema.

    tests/static/records.py --write    writes them, with the program of build/ (or $WARD_BUILD)
"""
import os
import re
import subprocess
import sys

from _sources import BUILD, SRC, finish, read

TABLES = ("audit/record_kinds.def", "audit/record_members.def")
# The page, the part, and the lines between which it stands.
PARTS = [("docs/audit-format.md", "members", "<!-- record_members.def -->\n", "<!-- end -->\n"),
         ("docs/audit-format.md", "kinds", "<!-- record_kinds.def -->\n", "<!-- end -->\n"),
         ("docs/audit-exports.md", "exports", "<!-- record_members.def -->\n", "<!-- end -->\n"),
         ("docs/audit-record.schema.json", "schema", '  "properties": {\n', "  }\n")]
WHO = "pid uid comm process parent".split()


def made(part):
    program = os.path.join(BUILD, "tests/support/record_pages")
    return subprocess.run([program, part], check=True, capture_output=True, text=True).stdout


def place(text, first, last):
    """Where a part begins and ends in the text of its page; None: it is not there."""
    start = text.find(first)
    end = text.find(last, start + len(first)) if start >= 0 else -1
    return (start + len(first), end) if end >= 0 else None


complaints = []
for page, part, first, last in PARTS:
    text = read(page)
    at = place(text, first, last)
    if not at:
        complaints.append(f"{page}: has no place for its {part}")
        continue
    want = made(part)
    have = text[at[0]:at[1]]
    if have == want:
        continue
    if "--write" in sys.argv:
        with open(os.path.join(SRC, page), "w", encoding="utf-8") as f:
            f.write(text[:at[0]] + want + text[at[1]:])
        continue
    differ = sorted(set(want.splitlines()) ^ set(have.splitlines()))
    complaints.append(f"{page}: its {part} are not those of {' and '.join(TABLES)} "
                      f"(tests/static/records.py --write): {differ[:2]}")
# The members of a kind are members, none of them twice.
members = re.findall(r"^\| `([a-z0-9_]+)` \|", made("members"), re.M)
for kind, has in re.findall(r"^\| `([a-z.]+)` \| [^|]* \| `([^`]*)` \|", made("kinds"), re.M):
    for name in has.split():
        if name not in members or name in WHO or has.split().count(name) > 1:
            complaints.append(f"{TABLES[0]}: {kind}: {name} is no member, one of who it was, or there twice")
finish(complaints, members)
