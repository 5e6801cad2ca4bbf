# SPDX-License-Identifier: Apache-2.0
"""What `wardfs --help` says: all verbs, and the options of each. Shared by the checks of pages and completions."""
import os
import re
import subprocess

from _sources import BUILD

PROGRAM = os.path.join(BUILD, "wardfs")
# Options that every verb has by itself.
STANDARD = {"--help", "--usage", "--version"}


def help_text(path):
    """The page of a verb, which is told on standard output and with exit status 0."""
    done = subprocess.run([PROGRAM, *path, "--help"], capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        raise SystemExit(f"{' '.join(path)} --help: exit status {done.returncode}, {done.stderr}")
    return done.stdout


def verbs_of(path):
    """The verbs beneath a verb; none: it does something itself."""
    text = help_text(path)
    if "\nVerbs:\n" not in text:
        return []
    found = re.findall(r"^  ([a-z-]+) ", text[text.index("\nVerbs:\n"):], re.M)
    if not found:
        raise SystemExit(f"{path}: no verbs in its --help")
    return found


def leaves(path=()):
    """All verbs that do something: {"run", "audit key show", …}."""
    beneath = verbs_of(path)
    if not beneath:
        return {" ".join(path)}
    return set().union(*(leaves((*path, verb)) for verb in beneath))


def options_of(leaf):
    """The options in the list of its --help: one of another verb may be named in the text."""
    listed = re.findall(r"^ +(?:-., )?(--[a-z][a-z0-9-]*)", help_text(leaf.split()), re.M)
    return set(listed) - STANDARD
