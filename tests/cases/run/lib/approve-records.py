# SPDX-License-Identifier: Apache-2.0
"""approve-records.py ASKS ANSWERS QUESTION: the last record of each is of this question."""
import hashlib
import json
import sys

ask, answer = (json.loads(open(f).readlines()[-1]) for f in sys.argv[1:3])
assert ask["request"] == answer["request"] == sys.argv[3], (ask, answer)
assert ask["shown"] == answer["shown"], (ask, answer)
shown = json.dumps(ask["detail"], separators=(",", ":"))
assert hashlib.sha256(shown.encode()).hexdigest() == ask["shown"], shown
assert answer["result"] == sys.argv[4], answer
assert answer["how"] == "approve", answer
assert answer["by"] == "uid %d" % answer["uid"] and answer["duration"] > 0, answer
