# SPDX-License-Identifier: Apache-2.0
"""attack-verdicts.py JSON: of `wardfs attack` by a script only what docs/attack.md names is broken."""
import json
import sys

NAMED = """keep-home envrc editor-tasks editor-settings agent-hooks agent-servers agent-config agent-text
    package-config compiler-config ci-workflow container-config""".split()

by = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for attempt in json.load(file)["attempts"]:
        by.setdefault(attempt["verdict"], []).append(attempt["name"])
assert by["broken"] == NAMED, by["broken"]
assert "untested" not in by, by["untested"]
assert len(by["held"]) > 60, by["held"]
