#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 1800
"""clang-tidy has nothing to say. Runs with `./bootstrap test --tidy`: WARD_TIDY is a clang build."""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

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


# The control: with the same settings it finds what is there, and says so by its exit status.
with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="ascii") as f:
    f.write("int control(void);\nint control(void)\n{\n\tint *p = 0;\n\treturn *p;\n}\n")
    f.flush()
    control = subprocess.run(["clang-tidy", "--quiet", f"--config-file={SRC}/.clang-tidy", f.name, "--"],
                             capture_output=True, text=True, check=False)
if control.returncode == 0 or "core.NullDereference" not in control.stdout:
    sys.exit(f"FAIL: a null pointer is followed and nobody says so: {control.stdout}{control.stderr}")

with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    complaints = [text for text in pool.map(check, sources) if text]
finish(complaints, sources)
