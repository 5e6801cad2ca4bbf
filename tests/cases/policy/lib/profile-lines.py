# SPDX-License-Identifier: Apache-2.0
"""profile-lines.py SHOWN <JSON: what is shown is the text, line by line, with comments behind; every line says something."""
import json
import sys

told = json.load(sys.stdin)
with open(sys.argv[1], encoding="utf-8") as f:
    shown = f.read().splitlines()
written = told["text"].splitlines()
assert len(shown) == len(written), (len(shown), len(written))
for a, b in zip(shown, written):
    assert a.startswith(b), (a, b)
keys = [i for i, line in enumerate(written, 1) if line[:1].isalpha()]
assert [line["line"] for line in told["lines"]] == keys
said = set()
for line in told["lines"]:
    assert len(line["says"]) > 2, line
    # The text says it at the first of them.
    key = (line["section"].split()[0], line["key"])
    if key not in said:
        assert line["says"] in shown[line["line"] - 1], line
        said.add(key)
