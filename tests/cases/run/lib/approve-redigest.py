# SPDX-License-Identifier: Apache-2.0
"""approve-redigest.py QUESTION: prints the question with the digest that belongs to it as it is now."""
import hashlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ["WARD_SRC"], "tests/support"))
from decided import ascii_json  # noqa: E402

with open(sys.argv[1], encoding="ascii") as f:
    question = json.load(f)
shown = {k: v for k, v in question.items() if k not in ("digest", "waits", "left", "approvers", "signed")}
question["digest"] = hashlib.sha256(ascii_json(shown)).hexdigest()
print(json.dumps(question))
