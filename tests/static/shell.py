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
result = subprocess.run(["shellcheck", "-x", "-s", "sh", "--"] + scripts, cwd=SRC, text=True,
                        capture_output=True, check=False)
if result.returncode:
    complaints.append(result.stdout + result.stderr)
finish(complaints, scripts)
