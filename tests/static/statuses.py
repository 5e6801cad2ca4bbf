#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exit statuses: --help lists them in ascending order, and has each that the man page names for the verb."""
import re

from _help import help_text, leaves
from _sources import finish, read

PAGE = "docs/man/wardfs.1"
# "0 done; 1 …; 128+N …": where an item begins.
ITEM = re.compile(r"(?:^|[;,] )(?:also )?(\d+)(?:\+N)?(?=[ ;,.:]|$)")
complaints, LEAVES = [], leaves()


def in_help(leaf):
    """The statuses of --help, in their order; None: it has no such paragraph."""
    found = re.search(r"Exit status:\s*(.*?)(?:\n\n|\Z)", help_text(leaf.split()), re.S)
    # One sentence: what follows explains.
    return [int(n) for n in ITEM.findall(" ".join(found[1].split()).split(". ")[0])] \
        if found else None


def in_page(leaf):
    """The statuses that the section of a verb names in "Exits with" and "exit status is"."""
    text = read(PAGE)
    section = re.search(rf"^\.Ss wardfs {leaf}\n(.*?)(?=^\.S[hs] )", text, re.S | re.M)
    said = re.findall(r"(?:Exits with|[Ee]xit status is)\b(.*?)(?:\.\n|; unless|\Z)",
                      section[1] if section else "", re.S)
    return {int(n) for s in said for n in re.findall(r"\b(\d{1,3})\b(?! (?:seconds|bytes))", s)}


for leaf in sorted(LEAVES):
    statuses = in_help(leaf)
    if statuses and statuses != sorted(statuses):
        complaints.append(f"wardfs {leaf} --help: exit statuses out of order: {statuses}")
    for status in sorted(in_page(leaf) - set(statuses or ())):
        complaints.append(f"{PAGE}: wardfs {leaf} exits with {status}, and --help does not say so")
finish(complaints, LEAVES)
