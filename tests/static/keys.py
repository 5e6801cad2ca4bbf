#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of keys in docs/policy.md is the one of the program. keys.py --write puts it there.
And no code but that of the table compares the word of a key or of a section."""
import os
import re
import sys

from _sources import BUILD, SRC, files, finish, read

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "docs", "man"))
import policy_keys  # what the manual page is made with

PAGE = "docs/policy.md"
HEAD = ["| section | key | type | default | merge | set by | live | here | what it says |",
        "|---|---|---|---|---|---|---|---|---|"]
WITH_PATH = {"tree", "quota"}


def lines(rows):
    """The table as the page has it. A section is named in its first row."""
    before = None
    for row in rows:
        section = row["section"] + (" *P*" if row["section"] in WITH_PATH else "")
        kind = row["type"].replace("|", " ") + (", repeats" if row["repeats"] == "yes" else "")
        default = row["default"] if row["default"] != "-" else "–"
        yield f"| {'' if row['section'] == before else section + ' '}| " + " | ".join([
            row["key"], kind, default, row["merge"], row["by"], row["live"],
            row["here"].replace("|", " "), row["doc"]]) + " |"
        before = row["section"]


def compare(have, want):
    """What is wrong with the rows of the page, `have`."""
    complaints = [f"{PAGE}: this row is missing or differs: {row}" for row in want
                  if row not in have]
    complaints += [f"{PAGE}: no key has this row: {row}" for row in have if row not in want]
    if not complaints and have != want:
        complaints.append(f"{PAGE}: the rows have another order than enforcer/policy/key_table.c")
    if complaints:
        complaints.append(f"{PAGE}: `python3 tests/static/keys.py --write` writes the table")
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
    # The control: a row less, a row more, a cell that differs.
    cut = [want[0].replace(" yes ", " no ", 1)] + want[1:]
    for bad in (want[1:], want + ["| | more | size | – | min |"], cut, want[::-1]):
        if not compare(bad, want):
            sys.exit("control: a difference was not found")
    page = read(PAGE).split("\n")
    start = next((i for i, line in enumerate(page) if line.startswith("| section | key |")), None)
    if start is None:
        sys.exit(f"{PAGE}: there is no table of keys")
    end = next(i for i in range(start, len(page)) if not page[i].startswith("|"))
    if sys.argv[1:] == ["--write"]:
        page[start:end] = HEAD + want
        with open(os.path.join(SRC, PAGE), "w", encoding="utf-8") as f:
            f.write("\n".join(page))
        return
    complaints = [] if page[start:start + 2] == HEAD else [f"{PAGE}: the head is to be: {HEAD[0]}"]
    finish(compared + complaints + compare(page[start + 2:end], want), want)


main()
