#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --help lists, the bash completion offers; what it offers for arguments is there. The others parse."""
import os
import re
import shutil
import subprocess
import tempfile

from _sources import BUILD, finish

PROGRAM = os.path.join(BUILD, "wardfs")
MADE = os.path.join(BUILD, "conf/completions")
# A shell that asks the completion as a terminal does: the last word is the one that is typed.
ASK = r'''
source "$1"; shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_wardfs
printf '%s\n' "${COMPREPLY[@]}"
'''
complaints, asked = [], []


def offered(*words):
    asked.append(words)
    env = dict(os.environ, PATH=BUILD + ":" + os.environ["PATH"])
    done = subprocess.run(["bash", "--norc", "-c", ASK, "bash", os.path.join(MADE, "wardfs"), "wardfs",
                           *words], capture_output=True, text=True, env=env, check=False)
    if done.returncode or done.stderr:
        complaints.append(f"{words}: exit status {done.returncode}, {done.stderr}")
    return set(done.stdout.split("\n")) - {""}


def expect(wanted, *words, only=False):
    got = offered(*words)
    for word in sorted(set(wanted) - got):
        complaints.append(f"{' '.join(words)}: {word} is not offered")
    for word in sorted(got - set(wanted)) if only else ():
        complaints.append(f"{' '.join(words)}: {word} is offered")


def help_text(path):
    return subprocess.run([PROGRAM, *path, "--help"], check=True, capture_output=True,
                          text=True).stdout


def walk(path):
    """Each verb and each option that the page of this verb knows."""
    text = help_text(path)
    options = set(re.findall(r"(?:^|[\s,[])(--[a-z][a-z0-9-]*)", text))
    if path == ["audit"]:
        verbs = set(re.findall(r"^(?:Usage:)? +wardfs audit ([a-z]+)", text, re.M))
        expect(verbs, "audit", "", only=True)
        for verb in verbs:
            expect(options, "audit", verb, "--")
        return
    if "\nVerbs:\n" in text:
        verbs = re.findall(r"^  ([a-z-]+) ", text[text.index("\nVerbs:\n"):], re.M)
        if not verbs:
            complaints.append(f"{path}: no verbs in its --help")
        expect(verbs, *path, "", only=True)
        for verb in verbs:
            walk(path + [verb])
    else:
        # an option of another verb may be named in the text of this one
        listed = set(re.findall(r"^ +(?:-., )?(--[a-z][a-z0-9-]*)", text, re.M))
        expect(listed, *path, "--")


walk([])
profiles = subprocess.run([PROGRAM, "profile", "list"], check=True, capture_output=True,
                          text=True).stdout
profiles = [line.split()[0] for line in profiles.splitlines() if " shipped with " in line]
expect(profiles, "profile", "show", "", only=True)
expect(["restricted"], "run", "--mode", "re", only=True)
expect(["process"], "run", "--mode", "=", "p", only=True)
expect(["policy"], "pol", only=True)
expect(["explain"], "policy", "ex", only=True)
expect(["rename", "read", "remove"], "policy", "explain", "re", only=True)
expect(["hide"], "policy", "add", "--guard", "h", only=True)
expect([], "run", "--", "ls", "--", only=True)
expect([], "run", "make", "--pol", only=True)
with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    for name in ("claude.policy", "other"):
        open(name, "w", encoding="ascii").close()
    os.mkdir("dir")
    expect(["claude", "claude.policy"], "run", "--policy", "cl", only=True)
    expect(["claude", "claude.policy"], "run", "-n", "-p", "cl", only=True)
    expect(["dir"], "run", "--read", "d", only=True)
    expect(["bash"], "run", "bash")
    expect(["bash"], "run", "--dry-run", "--", "bash")
    os.chdir("/")
for shell, name in (("bash", "wardfs"), ("zsh", "_wardfs"), ("fish", "wardfs.fish")):
    if shutil.which(shell):
        done = subprocess.run([shell, "-n", os.path.join(MADE, name)], capture_output=True, text=True,
                              check=False)
        if done.returncode or done.stderr:
            complaints.append(f"{shell} -n: {done.stderr}")
    elif os.path.getsize(os.path.join(MADE, name)) < 1000:
        complaints.append(f"{name} is empty")
finish(complaints, asked)
