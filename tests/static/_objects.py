# SPDX-License-Identifier: Apache-2.0
"""Who defines and who uses which symbol, from the object files that compile_commands.json names."""
import json
import os
import subprocess

from _sources import BUILD, SRC


def symbols(obj):
    """What an object file defines for others, and what it takes from others."""
    defined, taken = set(), set()
    text = subprocess.run(["nm", "-P", os.path.join(BUILD, obj)], check=True, capture_output=True,
                          text=True).stdout
    for line in text.splitlines():
        name, kind = line.split()[:2]
        if kind == "U":
            taken.add(name)
        elif kind in "TDBRGSC":
            defined.add(name)
    return defined, taken


def read_objects():
    """({source: symbols it defines}, {symbol: sources that take it})."""
    defines, users = {}, {}
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    for command in commands:
        source = os.path.relpath(os.path.join(command["directory"], command["file"]), SRC)
        if not os.path.exists(os.path.join(BUILD, command["output"])):
            continue
        defined, taken = symbols(command["output"])
        defines.setdefault(source, set()).update(defined)
        for name in taken:
            users.setdefault(name, set()).add(source)
    return defines, users
