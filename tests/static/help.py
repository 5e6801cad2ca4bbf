#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man page has a section for each verb, with the options that its --help lists, and no others."""
import os
import re
import subprocess

from _sources import BUILD, finish, read

# Options that every verb has by itself.
STANDARD = {"help", "usage", "version"}
PAGE = "docs/man/wardfs.1"


def page_options():
    """{"wardfs run": {"policy", …}} from the .Ss sections of the page."""
    found, verb = {}, None
    for line in read(PAGE).splitlines():
        section = re.match(r"\.S([hs])\s+(.*)", line)
        if section:
            verb = section.group(2) if section.group(1) == "s" else None
            if verb:
                found[verb] = set()
        elif verb and line.startswith(".It Fl"):
            found[verb].update(re.findall(r"Fl -([a-z][a-z0-9-]*)", line))
    return found


def help_text(verb):
    argv = [os.path.join(BUILD, "wardfs")] + verb.split()[1:] + ["--help"]
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    if result.returncode or result.stderr:
        complaints.append(f"`{verb} --help`: exit status {result.returncode}, {result.stderr}")
    return result.stdout


complaints = []
page = page_options()
for verb, documented in page.items():
    offered = set(re.findall(r"(?:^|[\s,[])--([a-z][a-z0-9-]*)", help_text(verb))) - STANDARD
    for option in sorted(offered - documented):
        complaints.append(f"{PAGE}: '{verb}' lacks --{option}")
    for option in sorted(documented - offered):
        complaints.append(f"{PAGE}: '{verb}' has --{option}, which --help does not list")
verbs = re.findall(r"^  ([a-z]+) ", help_text("wardfs"), re.M)
for verb in verbs:
    if not any(v == f"wardfs {verb}" or v.startswith(f"wardfs {verb} ") for v in page):
        complaints.append(f"{PAGE}: no section for 'wardfs {verb}'")
finish(complaints, verbs)
