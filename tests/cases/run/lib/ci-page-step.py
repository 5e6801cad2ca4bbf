# SPDX-License-Identifier: Apache-2.0
"""ci-page-step.py PAGE github|gitlab NAME: prints the shell of that step of the page."""
import re
import sys

page, service, name = sys.argv[1:]
blocks = re.findall(r"```yaml\n(.*?)```", open(page, encoding="utf-8").read(), re.S)
text = blocks[0 if service == "github" else 1]
if service == "github":
    found = re.search(rf"- name: {name}\n(?:        if: .*\n)?        run: \|\n((?:          .*\n)+)", text)
    lines = [line[10:] for line in found[1].splitlines()]
else:
    found = re.search(rf"^  {name}:\n((?:    (?:- |  ).*\n)+)", text, re.M)
    lines = [line[6:] for line in found[1].splitlines() if line != "    - |"]
print("\n".join(lines))
