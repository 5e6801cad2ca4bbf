# SPDX-License-Identifier: Apache-2.0
"""Part of ../review-diff.sh: 150 texts, before and after changes; the same in each call."""
import random
import sys

for i in range(150):
    rnd = random.Random(i)
    kinds = rnd.choice([2, 3, 10, 1000])
    lines = ["line %d" % rnd.randrange(kinds) for _ in range(rnd.choice([0, 1, 5, 40, 300]))]
    end = "\n" if lines and rnd.random() < 0.8 else ""
    if sys.argv[1] == "after":
        for _ in range(rnd.randrange(12)):
            what, at = rnd.randrange(3), rnd.randrange(len(lines) + 1)
            if what == 0:
                lines.insert(at, "new %d" % rnd.randrange(kinds))
            elif at < len(lines):
                lines[at:at + 1] = [] if what == 1 else ["other %d" % rnd.randrange(kinds)]
        if rnd.random() < 0.1:
            lines = ["all new %d" % rnd.randrange(kinds) for _ in range(rnd.randrange(60))]
        end = "\n" if lines and rnd.random() < 0.8 else ""
    with open("text%d" % i, "w") as f:
        f.write("\n".join(lines) + end)
