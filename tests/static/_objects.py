# SPDX-License-Identifier: Apache-2.0
"""Who defines and who uses which symbol, from the object files that compile_commands.json names."""
import json
import os
import subprocess

from _sources import BUILD, SRC


def symbols(objects):
    """{object: (what it defines for others, what it takes from others)}, by one call of nm for all."""
    found = {obj: (set(), set()) for obj in objects}
    text = subprocess.run(["nm", "-P", "-A", *found], check=True, capture_output=True, text=True,
                          cwd=BUILD).stdout
    for line in text.splitlines():
        obj, _, symbol = line.partition(": ")
        name, kind = symbol.split()[:2]
        if kind == "U":
            found[obj][1].add(name)
        elif kind in "TDBRGSC":
            found[obj][0].add(name)
    return found


def objects():
    """[(source, its object)], as often as targets compile it; both relative: to SRC and to BUILD."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    found = [(os.path.relpath(os.path.join(c["directory"], c["file"]), SRC), c["output"]) for c in commands]
    return [pair for pair in found if os.path.exists(os.path.join(BUILD, pair[1]))]


def read_objects():
    """({source: symbols it defines}, {symbol: sources that take it})."""
    defines, users = {}, {}
    pairs = objects()
    table = symbols([obj for _, obj in pairs])
    for source, obj in pairs:
        defined, taken = table[obj]
        defines.setdefault(source, set()).update(defined)
        for name in taken:
            users.setdefault(name, set()).add(source)
    return defines, users
