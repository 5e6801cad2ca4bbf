# SPDX-License-Identifier: Apache-2.0
"""approve-unanswered.py ASKS ANSWERS N: each question has one end, and N of them nobody gave."""
import json
import sys

asks, answers = ([json.loads(line) for line in open(name, encoding="utf-8")] for name in sys.argv[1:3])
shown = {a["request"]: a["shown"] for a in asks}
assert shown and sorted(shown) == sorted(a["request"] for a in answers), answers
ended = [a for a in answers if a["result"] == "ended"]
assert len(ended) == int(sys.argv[3]), ended
for a in ended:
    # Of what was shown last, also where paths joined. Nobody is named.
    assert a["shown"] == shown[a["request"]] and "by" not in a and "grant" not in a, a
