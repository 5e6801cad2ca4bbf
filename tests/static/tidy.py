#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 1800
"""clang-tidy has nothing to say. Runs with `./bootstrap test --tidy`: WARD_TIDY is a clang build."""
import concurrent.futures
import json
import os
import subprocess

from _sources import SRC, finish

TIDY = os.environ["WARD_TIDY"]
# The sources that the build generates come first.
subprocess.run(["ninja", "-C", TIDY, "--quiet"], check=True)
with open(os.path.join(TIDY, "compile_commands.json"), encoding="utf-8") as f:
    entries = json.load(f)
sources = sorted({os.path.normpath(os.path.join(e["directory"], e["file"])) for e in entries})
sources = [s for s in sources if s.startswith(SRC + "/") and not s.startswith(TIDY)
           and not s.startswith(SRC + "/tests/")]


def check(source):
    result = subprocess.run(["clang-tidy", "--quiet", "-p", TIDY, source], capture_output=True,
                            text=True, check=False)
    return result.stdout + result.stderr if result.returncode else None


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    complaints = [text for text in pool.map(check, sources) if text]
finish(complaints, sources)
