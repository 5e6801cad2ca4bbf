#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shellcheck has nothing to say about any script, and each one is POSIX sh."""
import subprocess

from _sources import SRC, files, finish, read

scripts = [p for p in files() if p.endswith(".sh") or
           ("." not in p.rsplit("/", 1)[-1] and read(p).startswith("#!") and
            "sh\n" in read(p).split("\n", 1)[0] + "\n")]
complaints = []
for script in scripts:
    if "bash" in read(script).split("\n", 1)[0]:
        complaints.append(f"{script}: asks for bash")
# What people run is clean to the last remark; tests may quote scripts for the shell inside.
for severity, group in (("style", [p for p in scripts if not p.startswith("tests/")]),
                        ("warning", [p for p in scripts if p.startswith("tests/")])):
    # SC2034: a variable of a sourced file may be used where it is sourced.
    result = subprocess.run(["shellcheck", "-x", "-s", "sh", "-e", "SC2034", "-S", severity, "--",
                             *group], cwd=SRC, text=True, capture_output=True, check=False)
    if result.returncode:
        complaints.append(result.stdout + result.stderr)
finish(complaints, scripts)
