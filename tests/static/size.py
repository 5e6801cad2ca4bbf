#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of at most 800 lines, functions of at most 80, READMEs of folders of at most 4 KB."""
import os

from _sources import files, finish, read

FILE, FUNCTION, README = 800, 80, 4096


def functions(text):
    """(line, length) of each function of kernel-style C: its braces stand in column 0."""
    start, previous = None, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{" and (previous.startswith("\t") or previous.endswith(")")):
            start = number
        elif line == "}" and start:
            yield start, number - start - 1
            start = None
        previous = line


complaints = []
sources = files(".c", ".h", ".py", ".sh")
for path in sources:
    text = read(path)
    length = text.count("\n")
    if length > FILE:
        complaints.append(f"{path}: {length} lines, more than {FILE}")
    if path.endswith(".c"):
        for line, length in functions(text):
            if length > FUNCTION:
                complaints.append(f"{path}:{line}: a function of {length} lines, more than "
                                  f"{FUNCTION}")
    if not path.endswith(".sh") and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.splitlines()[:2]):
        complaints.append(f"{path}: no SPDX line on top")
folders = {os.path.dirname(p) for p in files(".c", ".h")}
for folder in sorted(f for f in folders if not f.startswith("tests/")):
    readme = os.path.join(folder, "README.md")
    try:
        length = len(read(readme).encode())
    except FileNotFoundError:
        complaints.append(f"{readme}: missing")
        continue
    if length > README:
        complaints.append(f"{readme}: {length} bytes, more than {README}")
finish(complaints, sources)
