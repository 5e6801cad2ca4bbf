#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The completions offer what --help lists, all verbs and options and no others; bash is asked, zsh and
fish are read. What bash offers for arguments is there."""
import os
import re
import shutil
import subprocess
import tempfile

from _help import PROGRAM, options_of, verbs_of
from _sources import BUILD, finish

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


def made(name):
    with open(os.path.join(MADE, name), encoding="utf-8") as f:
        return f.read()


def compare(shell, path, what, got, wanted):
    where = f"{shell}: {' '.join(['wardfs', *path])}"
    complaints.extend(f"{where}: the {what} {word} is missing" for word in sorted(wanted - got))
    complaints.extend(f"{where}: there is no {what} {word}" for word in sorted(got - wanted))


def ask_bash(path, verbs, options):
    if verbs:
        expect(verbs, *path, "", only=True)
    compare("bash", path, "option", {o for o in offered(*path, "-") if o.startswith("--")}, options)


def read_zsh(path, verbs, options):
    """A function a verb: its verbs as 'NAME:TEXT', or its options as '*--NAME[TEXT]'."""
    name = "_wardfs" + "".join("_" + word.replace("-", "_") for word in path)
    found = re.search(rf"^{name}\(\) {{\n(.*?)^}}$", ZSH, re.M | re.S)
    body = found[1] if found else ""
    compare("zsh", path, "verb", set(re.findall(r"^\t\t'([a-z-]+):", body, re.M)), verbs)
    if not verbs:
        compare("zsh", path, "option", set(re.findall(r"'\*(--[a-z-]+)=?\[", body)), options)


def read_fish(path, verbs, options):
    """A line each: -n '__wardfs_at PATH' -l NAME, and with at -n PATH the verbs, -a NAME."""
    at = re.escape(" ".join(["__wardfs_at", *path]).strip())
    there = re.escape(" ".join(["__wardfs_at -n", *path]).strip())
    found = re.findall(rf"^complete -c wardfs -f -n '{there} ?' -a '([a-z-]+)'", FISH, re.M)
    compare("fish", path, "verb", set(found), verbs)
    found = re.findall(rf"^complete -c wardfs -n '{at} ?' -l ([a-z-]+)", FISH, re.M)
    compare("fish", path, "option", {"--" + option for option in found}, options)


def walk(path):
    """All verbs beneath one, in each of the shells."""
    verbs = verbs_of(path)
    options = {"--help"} if verbs else options_of(" ".join(path)) | OWN
    if not path:
        options.add("--version")
    for shell in (ask_bash, read_zsh, read_fish):
        shell(path, set(verbs), options)
    for verb in verbs:
        walk([*path, verb])


# What argp gives every verb.
OWN = {"--help", "--usage"}
ZSH, FISH = made("_wardfs"), made("wardfs.fish")
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
expect(["publish"], "policy", "add", "p", only=True)
expect(["forward"], "policy", "add", "f", only=True)
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
