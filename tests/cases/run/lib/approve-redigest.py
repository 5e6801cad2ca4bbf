# SPDX-License-Identifier: Apache-2.0
"""approve-redigest.py QUESTION: prints the question with the digest that belongs to it as it is now."""
import hashlib
import json
import sys

with open(sys.argv[1], encoding="ascii") as f:
    question = json.load(f)
shown = {k: v for k, v in question.items() if k not in ("digest", "waits", "left", "approvers", "signed")}
question["digest"] = hashlib.sha256(json.dumps(shown, separators=(",", ":")).encode()).hexdigest()
print(json.dumps(question))
