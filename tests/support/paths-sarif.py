#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paths-sarif.py HELD BROKEN: SARIF of `wardfs attack --path-rules`, of a run where nothing is
broken, and of one where reading .env is: that result names the line of the policy."""
import json
import sys


def results(path):
    with open(path, encoding="utf-8") as file:
        (run,) = json.load(file)["runs"]
    return run["results"]


HELD, BROKEN = map(results, sys.argv[1:])
assert not HELD, HELD
FIRST = next(r for r in BROKEN if r["ruleId"] == "read" and r["message"]["text"].startswith(".env (name)"))
(PLACE,) = FIRST["locations"]
assert PLACE["physicalLocation"]["artifactLocation"]["uri"] == "t.policy", PLACE
assert PLACE["physicalLocation"]["region"]["startLine"] == 6, PLACE
