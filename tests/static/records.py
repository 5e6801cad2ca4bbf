#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages about records say what the two tables of audit/ have: kinds, members, columns, the schema;
and producers write what the tables have.

    tests/static/records.py --write    writes them, with the program of build/ (or $WARD_BUILD)
"""
import os
import re
import subprocess
import sys

from _sources import BUILD, SRC, files, finish, read

TABLES = ("audit/record_kinds.def", "audit/record_members.def")
# The page, the part, and the lines between which it stands.
PARTS = [("docs/audit-format.md", "members", "<!-- record_members.def -->\n", "<!-- end -->\n"),
         ("docs/audit-format.md", "kinds", "<!-- record_kinds.def -->\n", "<!-- end -->\n"),
         ("docs/audit-exports.md", "exports", "<!-- record_members.def -->\n", "<!-- end -->\n"),
         ("docs/audit-record.schema.json", "schema", '  "properties": {\n', "  }\n")]
WHO = "pid uid comm process parent via".split()


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
# No member of a kind stands there twice.
members = re.findall(r"^\| `([a-z0-9_]+)` \|", made("members"), re.M)
HAS = {}
for kind, has in re.findall(r"^\| `([a-z.]+)` \| [^|]* \| `([^`]*)` \|", made("kinds"), re.M):
    if len(has) > 160:
        complaints.append(f"docs/audit-format.md: the members of {kind} take {len(has)} columns of a cell")
    HAS[kind] = HAS.get(kind, []) + has.split()
for kind, has in HAS.items():
    for name in has:
        if name in WHO or has.count(name) > 1:
            complaints.append(f"{TABLES[0]}: {kind}: {name} is one of who it was, or there twice")

# What a function puts into a record that it begins is in the row of its kind. Where the kind is a
# parameter, or another function adds to the record, the trails of the tests tell (tests/run.py).
KINDS = dict(re.findall(r'^KIND\((\w+), "([^"]+)"', read(TABLES[0]), re.M))
MEMBERS = dict(re.findall(r'^MEMBER\((\w+), "([^"]+)"', read(TABLES[1]), re.M))


def foreign(text):
    """Of each function that begins a record None, then (kind, member) for what the table does not have."""
    for body in re.findall(r"^\{\n(.*?)^\}", text, re.M | re.S):
        begun = re.findall(r"(?:ward_event_begin\([^,;]+, |head\.kind = )WARD_EVENT_(\w+)[);]", body)
        if not begun:
            continue
        yield None
        listed = {name for kind in begun for name in HAS[KINDS[kind]] + WHO}
        for tag in re.findall(r"WARD_TAG_(\w+)", body):
            if MEMBERS[tag] not in listed:
                yield KINDS[begun[0]], MEMBERS[tag]


n_begun = 0
for path in files(".c", below="enforcer") + files(".c", below="fs"):
    told = list(foreign(read(path)))
    n_begun += told.count(None)
    complaints += [f"{path}: {t[1]} is no member of kind {t[0]} ({TABLES[0]})" for t in told if t]
if n_begun < 10:
    complaints.append(f"only {n_begun} functions that begin a record were found")
CONTROL = ("static void f(void)\n{\n\tward_event_begin(&ev, WARD_EVENT_GAP);\n"
           "\tward_event_text(&ev, WARD_TAG_%s, s);\n}\n")
if list(foreign(CONTROL % "TEXT")) != [None] or list(foreign(CONTROL % "PATH")) != [None, ("gap", "path")]:
    complaints.append("control: a foreign member is not told, or one of the kind is")
finish(complaints, members)
