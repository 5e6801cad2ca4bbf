#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of system calls of a command as an OCI runtime takes it: a C file with JSON in it.

An engine puts it in front of the container's first process, which is our pid 1: so it lets pass what
that needs, and what cannot be said in OCI. pid 1 then puts the exact list in front of the command.
"""
import json
import re
import sys

# For pid 1 and its probes, on top of what the list has. The command is under the exact list, too.
PID1 = [
    # CLONE_NEWUSER, and no other namespace: the command's own id (init/engine.c).
    {"names": ["unshare"], "action": "SCMP_ACT_ALLOW", "args": [
        {"index": 0, "op": "SCMP_CMP_MASKED_EQ", "value": 0x6e020080, "valueTwo": 0}]},
    # Controls of probes: the kernel itself has to answer.
    {"names": ["mount", "ptrace"], "action": "SCMP_ACT_ALLOW"},
]

# For a container in which wardfs runs as an ordinary user: it makes its namespaces and its view.
# The probes need ptrace. The command of a session is under the exact list again.
NESTED = [
    {"names": ["clone", "fsconfig", "fsmount", "fsopen", "mount", "mount_setattr", "move_mount",
               "open_tree", "pivot_root", "ptrace", "setdomainname", "sethostname", "umount2",
               "unshare"], "action": "SCMP_ACT_ALLOW"},
    # KEYCTL_JOIN_SESSION_KEYRING alone: keys of others cannot be reached by it.
    {"names": ["keyctl"], "action": "SCMP_ACT_ALLOW", "args": [
        {"index": 0, "op": "SCMP_CMP_EQ", "value": 1, "valueTwo": 0}]},
    # docker before version 21 has EPERM as the default, with which libc starts no thread.
    {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
]


def condition(text):
    """An argument of OCI, or None where OCI has no word for it."""
    m = re.fullmatch(r"a(\d)(?:&(0x[0-9a-f]+|\d+))?(==|!=)(0x[0-9a-f]+|\d+)", text)
    if not m:
        return None
    index, mask, how, value = int(m[1]), m[2], m[3], int(m[4], 0)
    if mask:
        return None if how == "!=" else {"index": index, "op": "SCMP_CMP_MASKED_EQ",
                                         "value": int(mask, 0), "valueTwo": value}
    return {"index": index, "op": "SCMP_CMP_EQ" if how == "==" else "SCMP_CMP_NE",
            "value": value, "valueTwo": 0}


def opposite(text):
    return text.replace("!=", "==") if "!=" in text else text.replace("==", "!=")


def rule(name, lines):
    """None: never allowed. Lines are tried from top to bottom; OCI's all at once."""
    if not any(action != "deny" for action, _ in lines):
        return None
    allow = {"names": [name], "action": "SCMP_ACT_ALLOW"}
    *refused, (last, rest) = lines
    if refused and last == "allow" and not rest and \
            all(a == "deny" and len(c) == 1 for a, c in refused):
        args = [condition(opposite(c[0])) for _, c in refused]
        indexes = [a["index"] for a in args if a]
        if len(indexes) == len(set(indexes)) == len(args):
            allow["args"] = args
    return allow


def main(path, out):
    calls = {}
    for line in open(path, encoding="utf-8"):
        words = line.split("#")[0].split()
        if words:
            calls.setdefault(words[0].split("=")[0], []).append(
                (words[1].split(":")[0], words[2:]))
    rules = [rule(name, lines) for name, lines in calls.items() if name != "unshare"]
    with open(out, "w", encoding="utf-8") as f:
        f.write('/* Made by oci_seccomp.py. */\n'
                '#include "enforcer/container/container_internal.h"\n')
        for name, more in (("ward_oci_seccomp", PID1), ("ward_container_seccomp", []),
                           ("ward_devcontainer_seccomp", NESTED)):
            ours = {n for r in more for n in r["names"]}
            kept = [r for r in rules if r and r["names"][0] not in ours]
            plain = [r["names"][0] for r in kept if "args" not in r]
            args = [r for r in kept if "args" in r]
            refused = [n for n, lines in calls.items()
                       if lines == [("deny", [])] and n not in ours | {"clone3"}]
            listed = {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38, "syscalls":
                      [{"names": plain, "action": "SCMP_ACT_ALLOW"}] + args + more +
                      [{"names": refused, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
            text = json.dumps(listed, separators=(",", ":")).replace('"', '\\"')
            f.write(f'const char {name}[] =\n"{text}";\n')


main(sys.argv[1], sys.argv[2])
