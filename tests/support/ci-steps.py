#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci-steps.py PAGE github|gitlab: the commands of that snippet in docs/attack.md, as a shell runs
them, and on the last line the files that it uploads."""
import re
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    SNIPPETS = [yaml.safe_load(s) for s in re.findall(r"^```yaml\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)]
if sys.argv[2] == "github":
    STEPS = next(s for s in SNIPPETS if "jobs" in s)["jobs"]["sandbox"]["steps"]
    COMMANDS = [s["run"].replace("sudo ", "").strip() + " || failed=1" for s in STEPS if "run" in s]
    FILES = [s["with"]["sarif_file"] for s in STEPS if "sarif_file" in s.get("with", {})]
    assert all(s.get("if") == "always()" for s in STEPS if "upload" in s.get("uses", "")), "a report is lost"
else:
    JOB = next(s for s in SNIPPETS if "sandbox" in s)["sandbox"]
    COMMANDS, FILES = JOB["script"][:-1], JOB["artifacts"]["reports"]["junit"]
    assert JOB["artifacts"]["when"] == "always", "a report is lost"
print("\n".join(COMMANDS))
print("# uploads:", *FILES)
