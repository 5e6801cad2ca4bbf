#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pyflakes has nothing to say about any Python file: no name is undefined, none is imported for nothing."""
import re
import subprocess
import sys

from _sources import SRC, files, finish, read

sources = [p for p in files() if p.endswith(".py") or
           ("." not in p.rsplit("/", 1)[-1] and re.match(r"#!.*python", read(p)))]
result = subprocess.run([sys.executable, "-m", "pyflakes", *sources], cwd=SRC, text=True,
                        capture_output=True, check=False)
complaints = (result.stdout + result.stderr).splitlines()
if result.returncode and not complaints:
    complaints.append(f"pyflakes: exit status {result.returncode}")
finish(complaints, sources)
