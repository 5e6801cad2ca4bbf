#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man page has the verbs and options that --help lists, and no others, each where it belongs.

A verb has a section of its own ("wardfs policy check"), or an item of the section of its group
(".It Cm show" below "wardfs audit"). A list of options of a group is of all its verbs, or of those
that the text above names (".Cm show , tail", then "take"); the line behind ".It" names those that
take one option (".Cm show , tail :"). Such a list may go on in the next lines of .Cm.
"""
import re

from _help import leaves, options_of
from _sources import finish, read

PAGE = "docs/man/wardfs.1"
complaints = []
LEAVES = leaves()


def words_of(macros):
    """["show", "key list"] of the arguments of .Cm: up to the first that is no verb's word."""
    found = []
    for part in re.split(r"[|,]", macros):
        words = []
        for word in part.replace(" :", "").split():
            if word in ("Ar", "Fl", "Op", "Pq", "No", "Ns"):
                break
            if word not in ("Cm", ":"):
                words.append(word)
        if words:
            found.append(" ".join(words))
    return found


def beneath(name):
    """The verbs that a name means: itself, or all of a group."""
    return {leaf for leaf in LEAVES if leaf == name or leaf.startswith(name + " ")}


def known(name, where):
    if not beneath(name):
        complaints.append(f"{PAGE}: {where} names 'wardfs {name}', which --help does not list")
    return beneath(name)


def list_of(lines, number):
    """The list of verbs in the lines of .Cm that begin here, and the line behind it."""
    end = number
    while lines[end].startswith(".Cm ") and (end == number or lines[end - 1].endswith(",")):
        end += 1
    return ".Cm " + " ".join(line[len(".Cm "):] for line in lines[number:end]), lines[end]


def named(line, group):
    """The verbs of a group that a line of .Cm names."""
    return set().union(*(known(f"{group} {name}", f"an option of {group}")
                         for name in words_of(line[len(".Cm "):])))


def page():
    """What the sections have: verbs with a text, and {verb: options}."""
    told, options, group, of_list = set(), {leaf: set() for leaf in LEAVES}, None, set()
    lines = read(PAGE).splitlines()
    for number, line in enumerate(lines):
        section = re.match(r"\.S([hs])\s+(.*)", line)
        if section:
            group = section[2].removeprefix("wardfs ") if section[1] == "s" else None
            of_list = known(group, "a section") if group else set()
            if of_list == {group}:
                told.add(group)
        elif group and group not in LEAVES and line.startswith(".Cm ") and \
                list_of(lines, number)[1].startswith("take "):
            if not lines[number - 1].startswith(".Cm "):
                of_list = named(list_of(lines, number)[0], group)
        elif line == ".El" and group:
            of_list = beneath(group)
        elif group and line.startswith(".It Cm ") and group not in LEAVES:
            for name in words_of(line[len(".It Cm "):]):
                told |= known(f"{group} {name}", f"the section of {group}")
        elif group and line.startswith(".It Fl"):
            one = group not in LEAVES and lines[number + 1].startswith(".Cm ")
            for taker in named(lines[number + 1], group) if one else of_list:
                options[taker].update("--" + o for o in re.findall(r"Fl -([a-z][a-z0-9-]*)", line))
    return told, options


def synopsis():
    """The verbs of the SYNOPSIS."""
    found = set()
    text = read(PAGE).split(".Sh SYNOPSIS\n")[1].split(".Sh ")[0]
    for entry in text.split(".Nm\n")[1:]:
        cm = [line[len(".Cm "):] for line in entry.splitlines() if line.startswith(".Cm ")]
        first, rest = words_of(cm[0])[0], [w for line in cm[1:] for w in words_of(line)]
        for name in [f"{first} {word}" for word in rest] or words_of(cm[0]):
            if name != "help":
                found |= known(name, "the SYNOPSIS")
    return found


told, documented = page()
for leaf in sorted(LEAVES - told):
    complaints.append(f"{PAGE}: no section and no item for 'wardfs {leaf}'")
for leaf in sorted(LEAVES - synopsis()):
    complaints.append(f"{PAGE}: the SYNOPSIS lacks 'wardfs {leaf}'")
for leaf in sorted(LEAVES):
    offered = options_of(leaf)
    for option in sorted(offered - documented[leaf]):
        complaints.append(f"{PAGE}: 'wardfs {leaf}' lacks {option}")
    for option in sorted(documented[leaf] - offered):
        complaints.append(f"{PAGE}: 'wardfs {leaf}' has {option}, which --help does not list")
finish(complaints, LEAVES)
