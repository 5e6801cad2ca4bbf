#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attempts.py [--write] WARDFS: the catalogue in docs/attack.md is what `wardfs attack --list`
prints, and each attempt says what stops it and refers to a weakness or technique in its form.
--write puts the catalogue there."""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/attack.md"
START = "\n## The attempts\n"
# CWE, ATT&CK, ATLAS, CVE: what each looks like.
FORM = re.compile(r"CWE-[1-9]\d{0,3}|T1\d{3}(\.\d{3})?|AML\.T\d{4}(\.\d{3})?|CVE-(19|20)\d{2}-\d{4,7}")
WRITE = sys.argv[1] == "--write"
WARDFS = sys.argv[-1]


def ask(*words):
    return subprocess.run([WARDFS, "attack", *words], check=True, capture_output=True, text=True).stdout


def catalogue():
    """The section, and the names in it."""
    page, names = [START], []
    for line in ask("--list").splitlines():
        if group := re.fullmatch(r"([a-z]+): (.+)", line):
            page += ["", f"### {group[1]}", "", f"These {group[2]}.", "",
                     "| attempt | what it does |", "|---|---|"]
        elif row := re.fullmatch(r"  ([a-z0-9-]+) +(.+)", line):
            page.append(f"| `{row[1]}` | {row[2]} |")
            names.append(row[1])
        elif line:
            sys.exit(f"--list prints a line that is no attempt: {line}")
    return "\n".join(page) + "\n", names


def wrong_of(name):
    text = ask("--explain", name)
    reference = re.search(r"^Reference: +(.*)\.$", text, re.MULTILINE)
    if not re.search(r"^Broken if: +[a-z/]", text, re.MULTILINE):
        yield f"{name}: --explain does not say when it is broken"
    if not re.search(r"^Would stop it: +[a-zA-Z]", text, re.MULTILINE):
        yield f"{name}: --explain does not say what would stop it"
    words = reference[1].split(", ") if reference else [""]
    yield from (f"{name}: '{word}' is no reference" for word in words if not FORM.fullmatch(word))


text = PAGE.read_text(encoding="utf-8")
section, all_names = catalogue()
before = text.split(START)[0]
wanted = re.sub(r"for \d+ ways out", f"for {len(all_names)} ways out", before) + section
if WRITE:
    PAGE.write_text(wanted, encoding="utf-8")
complaints = [] if WRITE or wanted == text else [
    f"{PAGE.name}: `python3 tests/support/attempts.py --write WARDFS` writes the catalogue"]
if len(set(all_names)) < len(all_names):
    complaints.append("two attempts have one name")
if len(all_names) < 250:
    complaints.append(f"{len(all_names)} attempts are fewer than 250")
for one in all_names:
    complaints += wrong_of(one)
print("\n".join(complaints), end="\n" if complaints else "")
sys.exit(bool(complaints))
