# SPDX-License-Identifier: Apache-2.0
"""approve-first.py EXPRESSION: of the first question q that `wardfs approve --json` lists. 1: none."""
import json
import sys

questions = json.load(sys.stdin)
if not questions:
    sys.exit(1)
q = questions[0]
print(eval(sys.argv[1]))
