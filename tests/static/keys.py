#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of keys in docs/wardfs-policy.5.md is the table of the program. keys.py --write puts it
there.
And no code but that of the table compares the word of a key or of a section."""
import os
import re
import sys
import textwrap

from _sources import BUILD, SRC, files, finish, read

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "docs", "man"))
import policy_keys  # what the manual page is made with

PAGE = "docs/wardfs-policy.5.md"
BEGIN, END = "<!-- keys -->", "<!-- end of keys -->"
WITH_PATH = {"tree", "quota"}


def entry(row):
    """What the list says of one key, as one text."""
    kind = row["type"].replace("|", ", ") + (", repeats" if row["repeats"] == "yes" else "")
    default = f"default {row['default']}; " if row["default"] != "-" else ""
    return (f"- `{row['key']}`: {row['doc']} *Type*: {kind}; {default}*merge*: {row['merge']}; "
            f"*set by*: {row['by']}; *live*: {row['live']}; "
            f"*here*: {row['here'].replace('|', ', ')}.")


def lines(rows):
    """The list as the page has it: a heading for each section, a point for each key."""
    before = None
    for row in rows:
        if row["section"] != before:
            yield from ("", f"### [{row['section']}{' PATH' if row['section'] in WITH_PATH else ''}]", "")
        yield from textwrap.wrap(entry(row), 100, subsequent_indent="  ", break_long_words=False,
                                 break_on_hyphens=False)
        before = row["section"]
    yield ""


def compare(have, want):
    """What is wrong with the lines of the page, `have`."""
    complaints = [f"{PAGE}: this line is missing or differs: {line}" for line in want
                  if line not in have]
    complaints += [f"{PAGE}: no key has this line: {line}" for line in have if line not in want]
    if not complaints and have != want:
        complaints.append(f"{PAGE}: the keys have another order than enforcer/policy/key_table.c")
    if complaints:
        complaints.append(f"{PAGE}: `python3 tests/static/keys.py --write` writes the list")
    return complaints


FINDS = "enforcer/policy/keys.c"  # the words of a file, among those of the table
COMPARED = re.compile(
    r"\bstr\w*cmp\((?:[^();]|\([^();]*\))*?(?:\bkey|\bk|section)->name\b")


def comparisons(path, text):
    for found in COMPARED.finditer(text):
        line = text.count("\n", 0, found.end()) + 1
        yield f"{path}:{line}: a row of the table, its type or its member says which key it is"


def main():
    # The control: each of these compares one.
    for bad in ("if (strcmp(e->key->name, \"deny\") == 0)", "strcmp(name,\n\tk->name)",
                "!strcmp(rd->section->name, \"tree\")"):
        if not list(comparisons("x.c", bad)):
            sys.exit(f"control: not found: {bad}")
    compared = [line for path in files(".c", ".h", below="enforcer") if path != FINDS
                for line in comparisons(path, read(path))]
    want = list(lines(policy_keys.rows(os.path.join(BUILD, "enforcer/policy/policy-keys")).values()))
    # The control: a line less, a line more, a line that differs, another order.
    cut = [line.replace("*merge*: base", "*merge*: min", 1) for line in want]
    for bad in (want[:3] + want[5:], want + ["- `more`: nothing."], cut, want[::-1]):
        if not compare(bad, want):
            sys.exit("control: a difference was not found")
    page = read(PAGE).split("\n")
    if BEGIN not in page or END not in page:
        sys.exit(f"{PAGE}: there is no list of keys")
    start, end = page.index(BEGIN) + 1, page.index(END)
    if sys.argv[1:] == ["--write"]:
        page[start:end] = want
        with open(os.path.join(SRC, PAGE), "w", encoding="utf-8") as f:
            f.write("\n".join(page))
        return
    finish(compared + compare(page[start:end], want), want)


main()
