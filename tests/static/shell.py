#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""The house rules of shell scripts, which tests/README.md explains.

shellcheck has nothing to say about any script, and each one is POSIX sh. Each starts with `set -eu`, and so
does a script that a test writes and that sources one of ours. No line is a bare `! COMMAND`, which `set -e`
passes over. Nobody defines a function of tests/lib.sh again. The files of tests/ that a test names exist, and
their names have one style. Python of more than a few lines stands in a file of its own.
"""
import os
import re
import subprocess

from _sources import SRC, files, finish, read

PYTHON = 5  # lines that a script may hold
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(sh|py)")
HERE = re.compile(r"<<(-?)\s*(['\"]?)([A-Z][A-Z0-9]*)\2")
OURS = re.compile(r"\s*\. \"\$WARD_SRC/tests/")
START = re.compile(r"\s*set -eux?$")

scripts = [p for p in files() if p.endswith(".sh") or
           ("." not in p.rsplit("/", 1)[-1] and read(p).startswith("#!") and
            "sh\n" in read(p).split("\n", 1)[0] + "\n")]
complaints = []


def here_documents(lines, offset=0):
    """(line number, the line that begins it, its body) of each, the nested ones as well."""
    at = 0
    while at < len(lines):
        start, found = at, HERE.search(lines[at])
        at += 1
        if found and not lines[start].lstrip().startswith("#"):
            while at < len(lines) and lines[at].strip() != found[3]:
                at += 1
            body = lines[start + 1:at]
            yield offset + start + 1, lines[start], body
            yield from here_documents(body, offset + start + 1)


def starts_strictly(path, lines):
    """`set -eu` is the first command of a script, and stands in each script in it that sources one of ours."""
    code = [line for line in lines if line.strip() and not line.startswith("#")]
    if not code or not START.fullmatch(code[0]):
        yield f"{path}: its first command is not `set -eu`"
    for number, _, body in here_documents(lines):
        ours = next((n for n, line in enumerate(body) if OURS.match(line)), None)
        if ours is not None and not any(map(START.fullmatch, body[:ours])):
            yield f"{path}:{number}: the script that is written here sources ours without `set -eu` before it"


def missing(path, lines):
    for number, line in enumerate(lines, 1):
        for found in re.findall(r"\$WARD_SRC/(tests/[\w./-]+)(?=[\"\s])", line):
            if not os.path.exists(os.path.join(SRC, found)):
                yield f"{path}:{number}: there is no {found}"


def negations(path, lines):
    """`! COMMAND` by itself never ends a script, whatever the command says. As a function's last it is its answer."""
    for number, (line, following) in enumerate(zip(lines, lines[1:] + [""]), 1):
        if re.match(r"\s*! ", line) and not re.search(r"\|\||&&|\\$", line) and following.strip() != "}":
            yield f"{path}:{number}: `set -e` passes over a bare `!`: write `! … || fail …`"


def defined_again(path, lines, shared):
    for number, line in enumerate(lines, 1):
        found = re.match(r"\s*(\w+)\(\)", line)
        if found and found[1] in shared and path != "tests/lib.sh":
            yield f"{path}:{number}: {found[1]}() is defined in tests/lib.sh"


def embedded_python(path, lines):
    for number, line, body in here_documents(lines):
        if re.search(r"python3? (-\S+ )*-( |$)|\.py\b", line) and len(body) > PYTHON:
            yield f"{path}:{number}: {len(body)} lines of Python: they belong into a file"
    text = "\n".join(lines)
    for found in re.finditer(r"python3? (?:-\S+ )*?-c ('[^']*'|\"(?:[^\"\\]|\\.)*\")", text):
        body = found[1][1:-1].strip("\n").split("\n")
        if len(body) > PYTHON:
            number = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{number}: {len(body)} lines of Python: they belong into a file"


def names():
    """Lower case and hyphens; a module that another file imports has the name that Python asks for."""
    sources = files(".py", ".sh", below="tests")
    imported = {m for p in sources if p.endswith(".py")
                for m in re.findall(r"^\s*(?:import|from) (\w+)", read(p), re.M)}
    for path in sources:
        name = path.rsplit("/", 1)[-1]
        if not path.startswith("tests/fuzz/corpus/") and not NAME.fullmatch(name) and \
                name.removesuffix(".py") not in imported:
            yield f"{path}: a name is lower case words with hyphens between them"


shared_functions = set(re.findall(r"^(\w+)\(\) \{", read("tests/lib.sh"), re.M))
if not {"fail", "expect", "refused"} <= shared_functions:
    complaints.append("tests/lib.sh: its functions were not found")
for script in scripts:
    source = read(script).split("\n")
    if "bash" in source[0]:
        complaints.append(f"{script}: asks for bash")
    complaints += starts_strictly(script, source)
    complaints += negations(script, source)
    if script.startswith("tests/"):
        complaints += missing(script, source)
        complaints += defined_again(script, source, shared_functions)
        complaints += embedded_python(script, source)
complaints += names()
# What people run is clean to the last remark; tests may quote scripts for the shell inside. A
# test's lib is not read again for each test: `set -u` finds what is not set. SC2034: a variable of
# a sourced file may be used where it is sourced.
SHELLCHECK = {True: ["-S", "warning", "-e", "SC1091,SC2034,SC2154"], False: ["-S", "style", "-x", "-e", "SC2034"]}
AT_ONCE = 8  # More in one process, and most of its time goes into collecting garbage.
for test, options in SHELLCHECK.items():
    group = [p for p in scripts if p.startswith("tests/") is test]
    for i in range(0, len(group), AT_ONCE):
        result = subprocess.run(["shellcheck", *options, "-s", "sh", "--", *group[i:i + AT_ONCE]], cwd=SRC,
                                text=True, capture_output=True, check=False)
        if result.returncode:
            complaints.append(result.stdout + result.stderr)
finish(complaints, scripts)
