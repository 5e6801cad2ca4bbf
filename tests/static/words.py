#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file names the machine it was written on, a package registry, or work left undone."""
import os
import re

from _sources import SRC, files, finish, read

UNDONE = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X+|H[A]CK)\b"
                    r"|\b(?i:not (yet )?i[m]plemented|p[l]aceholder)\b")
REGISTRIES = re.compile(r"\b(p[y]pi\.org|p[y]thonhosted|n[p]mjs\.(org|com)|c[r]ates\.io|"
                        r"p[r]oxy\.golang\.org|d[e]b\.debian\.org|g[h]cr\.io)\b"
                        # The Debian package of docker has the name of the registry.
                        r"|\bd[o]cker\.io[/:]|[/.@]d[o]cker\.io\b")
# A home directory of somebody.
MACHINE = re.compile(r"/h[o]me/(?!(u|user|you|agent|owner|alice|somebody)\b)[a-z]\w*/")
# The one table of the registries that `wardfs init` proposes.
TABLE = "enforcer/cli/policy/ecosystems.c"
complaints, looked_at = [], files()
here = re.compile(re.escape(SRC) + r"\b") if SRC.count("/") > 1 else None
for path in looked_at:
    if path == "LICENSE" or path.startswith("tests/fuzz/corpus"):
        continue
    for number, line in enumerate(read(path).splitlines(), 1):
        for pattern, what in ((UNDONE, "work left undone"), (REGISTRIES, "a registry"),
                              (MACHINE, "this machine"), (here, "this machine")):
            if pattern is REGISTRIES and path == TABLE:
                continue
            # A profile expects what its agent asks for.
            if pattern is REGISTRIES and path.startswith("conf/profiles/") and line.startswith("host = "):
                continue
            found = pattern and pattern.search(line)
            # That file is the list of them.
            if path == "conf/open-hosts.list" and what == "a registry":
                continue
            # mkstemp(3) wants its six letters.
            if found and not (what == "work left undone" and "XXX" in line and "XXXXXX" in line):
                complaints.append(f"{path}:{number}: {what}: {found.group(0)}")
    if os.path.islink(os.path.join(SRC, path)):
        complaints.append(f"{path}: a symbolic link")
finish(complaints, looked_at)
