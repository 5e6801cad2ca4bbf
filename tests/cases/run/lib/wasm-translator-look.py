#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wasm-translator-look.py PID PROJECT: waits until a translator runs below the process PID, holds
it against what it may have, and prints the numbers of it and of the processes between."""
import os
import sys
import time

TOOLS = ("wasm2c", "cc1")
GIB = 1 << 30
MOST = {
    "Max cpu time": 150,
    "Max data size": 4 * GIB,
    "Max stack size": 64 << 20,
    "Max file size": GIB // 2,
    "Max processes": 64 + 4,
    "Max open files": 256,
}


def text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def parents():
    found = {}
    for name in os.listdir("/proc"):
        try:
            if name.isdigit():
                found[int(name)] = int(text(f"/proc/{name}/stat").rpartition(")")[2].split()[1])
        except OSError:
            pass  # It ended.
    return found


def below(top):
    of = parents()
    kept = {top}
    while True:
        more = {p for p, parent in of.items() if parent in kept} - kept
        if not more:
            return kept - {top}
        kept |= more


def look(pid, project):
    """What is wrong."""
    at = f"/proc/{pid}"
    wrong = []
    for line in text(f"{at}/limits").splitlines():
        for name, most in MOST.items():
            if line.startswith(name):
                hard = line[len(name):].split()[1]
                if hard == "unlimited" or int(hard) > most:
                    wrong.append(line)
    interfaces = [line.split(":")[0].strip() for line in text(f"{at}/net/dev").splitlines()[2:]]
    if [i for i in interfaces if i != "lo"]:
        wrong.append(f"interfaces {interfaces}")
    if os.readlink(f"{at}/ns/net") == os.readlink("/proc/self/ns/net"):
        wrong.append("our network")
    if os.path.exists(f"{at}/root{project}") or os.path.exists(f"{at}/root/workspace/plain.wasm"):
        wrong.append(f"sees {project}")
    if project in text(f"{at}/mountinfo"):
        wrong.append(f"mounts tell {project}")
    state = dict(line.split(":\t", 1) for line in text(f"{at}/status").splitlines() if ":\t" in line)
    if state["Seccomp"] != "2" or state["NoNewPrivs"] != "1" or int(state["CapEff"], 16):
        wrong.append(f"seccomp {state['Seccomp']}, capabilities {state['CapEff']}")
    return wrong


def main():
    top, project = int(sys.argv[1]), sys.argv[2]
    for _ in range(6000):
        family = below(top)
        for pid in family:
            try:
                if text(f"/proc/{pid}/comm").strip() in TOOLS:
                    wrong = look(pid, project)
                    for w in wrong:
                        print(w, file=sys.stderr)
                    print(*sorted(family), sep="\n")
                    return 1 if wrong else 0
            except OSError:
                pass  # It ended; the next one comes.
        time.sleep(0.02)
    print("no translator", file=sys.stderr)
    return 1


sys.exit(main())
