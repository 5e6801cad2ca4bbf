#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of system calls: each line of conf/seccomp has its reason, which says something without the line
above it; and who takes a call of old, in C as well, takes what libc makes in its place on arm64."""
import glob
import os
import re
import sys

SRC = os.environ.get("WARD_SRC") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What architectures without the calls of old (asm-generic/unistd.h) have instead.
INSTEAD = {
    "access": "faccessat", "chmod": "fchmodat", "chown": "fchownat", "dup2": "dup3", "epoll_create": "epoll_create1",
    "epoll_wait": "epoll_pwait", "eventfd": "eventfd2", "fork": "clone", "getdents": "getdents64",
    "inotify_init": "inotify_init1", "lchown": "fchownat", "link": "linkat", "lstat": "newfstatat", "mkdir": "mkdirat",
    "mknod": "mknodat", "open": "openat", "pause": "ppoll", "pipe": "pipe2", "poll": "ppoll", "readlink": "readlinkat",
    "rename": "renameat", "rmdir": "unlinkat", "select": "pselect6", "signalfd": "signalfd4", "stat": "newfstatat",
    "symlink": "symlinkat", "unlink": "unlinkat", "utime": "utimensat", "utimes": "utimensat", "vfork": "clone"}


def lacking(name, calls):
    return [f"{name}: takes {old}, not {new}, which it is on arm64" for old, new in INSTEAD.items()
            if old in calls and new not in calls]


def calls_of_list(text):
    return {line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith(("#", "include "))}


def calls_of_c(text):
    return set(re.findall(r"\bSCMP_SYS\((\w+)\)", text))


def faults(name, text):
    """Of one list: (line number, what is wrong)."""
    found, rules = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#") or line.startswith("include "):
            continue
        rules += 1
        rule, _, reason = line.partition("#")
        if len(rule.split()) < 2:
            found.append((number, "no action"))
        if len(reason.strip()) < 3:
            found.append((number, "no reason"))
        if reason.strip().lower().startswith(("the same", "ditto")):
            found.append((number, "a reason that needs the line above"))
    if rules == 0:
        found.append((0, "no line at all"))
    return [f"{name}:{n}: {what}" for n, what in found]


def main():
    # The control: each fault is found.
    for bad in ("read allow\n", "read allow #\n", "read allow # the same\n", "read # why not\n", "# nothing\n"):
        if not faults("x", bad):
            sys.exit(f"control: nothing found in {bad!r}")
    if lacking("x", calls_of_c("{SCMP_SYS(poll), SCMP_SYS(read)}")) == [] or lacking("x", calls_of_list(
            "poll allow # x\nppoll allow # x\n")):
        sys.exit("control: the calls of arm64")
    lists = sorted(glob.glob(os.path.join(SRC, "conf", "seccomp", "*.list")))
    if len(lists) < 4:
        sys.exit(f"only {lists}")
    found = []
    for path in lists:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found += faults(os.path.relpath(path, SRC), text) + lacking(os.path.relpath(path, SRC), calls_of_list(text))
    for folder in ("audit", "enforcer", "fs"):
        for path in sorted(glob.glob(os.path.join(SRC, folder, "**", "*.c"), recursive=True)):
            with open(path, encoding="utf-8") as f:
                found += lacking(os.path.relpath(path, SRC), calls_of_c(f.read()))
    if found:
        sys.exit("\n".join(found))


main()
