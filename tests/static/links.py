#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each program links what links.list says and no more, and is hardened (PIE, RELRO, NX stack)."""
import os
import re
import subprocess
import sys

from _sources import BUILD, finish, read

# What the compiler's own run time brings under sanitizers: another check than this one.
if re.search(r"-Db_sanitize=(?!none)|\"b_sanitize\".*(address|thread)",
             open(os.path.join(BUILD, ".bootstrap-options"), encoding="utf-8").read()
             if os.path.exists(os.path.join(BUILD, ".bootstrap-options")) else ""):
    print("a sanitized build links the sanitizers: checked in the plain build")
    sys.exit(0)


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], capture_output=True, text=True,
                          check=True).stdout


def linked(path):
    names = re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf("-d", path))
    return {re.sub(r"\.so.*", "", n) for n in names if not n.startswith("ld-linux")}


def imported(path):
    return {m.group(1) for m in re.finditer(r" UND (\w+)", readelf("--dyn-syms", path))}


def hardening(path):
    head, dynamic, segments = readelf("-h", path), readelf("-d", path), readelf("-l", path)
    if not re.search(r"Type:\s+DYN", head):
        yield "is not position independent"
    if "GNU_RELRO" not in segments:
        yield "has no RELRO"
    if "NEEDED" in dynamic and not re.search(r"BIND_NOW|NOW", dynamic):
        yield "binds lazily"
    if re.search(r"GNU_STACK.*RWE", segments):
        yield "has an executable stack"


sets, complaints, looked_at = {}, [], []
listed = set()
for line in read("tests/static/links.list").splitlines():
    if line.startswith("#") or not line.strip():
        continue
    if "=" in line:
        name, names = line.split("=")
        sets[name.strip()] = set(names.split())
        continue
    program, allowed, forbidden = line.split()
    listed.add(program)
    path = os.path.join(BUILD, program)
    if not os.path.exists(path):
        complaints.append(f"{program} was not built")
        continue
    looked_at.append(program)
    for extra in sorted(linked(path) - set(allowed.split(","))):
        complaints.append(f"{program} links {extra}, which links.list does not allow")
    banned = set().union(*(sets[s] for s in forbidden.split(",") if s != "-"))
    for extra in sorted(imported(path) & banned):
        complaints.append(f"{program} imports {extra}(), which links.list forbids")
    complaints += [f"{program} {what}" for what in hardening(path)]
for entry in sorted(os.listdir(BUILD)):
    path = os.path.join(BUILD, entry)
    if os.path.isfile(path) and os.access(path, os.X_OK) and entry not in listed:
        complaints.append(f"{entry} has no line in links.list")
finish(complaints, looked_at)
