#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matrix.py MATRIX DOCUMENT: the table "Which layer which attempt sees" of the document has the
layers of `wardfs attack --knock-out all`, and names attempts that found them."""
import re
import sys


def found(path):
    layers = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            layer, _, rest = line.rstrip("\n").partition(" ")
            layers[layer] = rest.strip()
    return layers


def documented(path):
    with open(path, encoding="utf-8") as file:
        part = file.read().split("### Which layer which attempt sees\n")[1].split("\n#")[0]
    return dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", part, re.MULTILINE))


FOUND, WRITTEN = found(sys.argv[1]), documented(sys.argv[2])
wrong = [f"{layer} stands on one side only" for layer in FOUND.keys() ^ WRITTEN.keys()]
for name in FOUND.keys() & WRITTEN.keys():
    attempts = re.findall(r"`([a-z0-9-]+)`", WRITTEN[name])
    if attempts:
        seen = set(re.split(r"[,;]? ", FOUND[name]))
        wrong += [f"{name}: {one} did not find it" for one in attempts if one not in seen]
    elif WRITTEN[name] != FOUND[name]:
        wrong.append(f"{name}: {FOUND[name]}")
print("\n".join(wrong))
sys.exit(bool(wrong))
