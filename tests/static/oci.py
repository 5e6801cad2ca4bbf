#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wardfs-oci(8) has the keys of /etc/wardfs/oci.policy, the commands, the global options and the
annotations that the program has, and no others. docs/oci.md and conf/oci/oci.policy name no key that
the program lacks."""
import re

from _sources import finish, read

PAGE = "docs/man/wardfs-oci.8"
EXAMPLE = "conf/oci/oci.policy"
complaints = []
page = read(PAGE)


def compare(what, program, written):
    if not program or not written:
        complaints.append(f"{PAGE}: no {what} was found")
    complaints.extend(f"{PAGE}: lacks the {what} {x}" for x in sorted(program - written))
    complaints.extend(f"{PAGE}: has the {what} {x}, which the program lacks"
                      for x in sorted(written - program))


def sections(text, section, key):
    """{(section, key)} of a text with lines of both."""
    found, at = set(), None
    for line in text.splitlines():
        if m := re.match(section, line):
            at = m[1]
        elif at and (m := re.match(key, line)):
            found.add((at, m[1]))
    return found


table = read("enforcer/oci/host_policy.c").split("keys[] = {")[1].split("\n};")[0]
keys = set(re.findall(r'\{"([a-z]+)", "([a-z-]+)",', table))
told = page.split(".Ss /etc/wardfs/oci.policy\n")[1].split(".Sh ")[0]
compare("key", keys, sections(told, r"\.It Bq (\w+)$", r"\.It Cm ([a-z-]+) No ="))
for at, key in sections(read(EXAMPLE), r"\[(\w+)\]$", r"(?:; )?([a-z-]+) *= ") - keys:
    complaints.append(f"{EXAMPLE}: [{at}] has no key {key}")

arguments = read("enforcer/oci/arguments.c")
passed = re.findall(r'^\t\{"([a-z]+)", (?:WARD_OCI_|")', arguments, re.M)
items = re.findall(r"^\.It Cm ([a-z]+(?: , [a-z]+)*)$", page.split(".Ss ")[0], re.M)
compare("command", set(passed), {c for item in items for c in item.split(" , ")})
options = arguments.split("of_all[] = {")[1].split("\n};")[0]
compare("global option", set(re.findall(r'\{"([a-z-]+)", ', options)),
        set(re.findall(r"^\.Fl -([a-z-]+)", page.split("global options\n")[-1].split(".Ss ")[0], re.M)))
notes = re.findall(r'"(wardfs\.[a-z]+)\.?"', read("enforcer/oci/container_plan.c"))
compare("annotation", set(notes), set(re.findall(r"^\.It Cm (wardfs\.[a-z]+)", page, re.M)))
finish(complaints, keys)
