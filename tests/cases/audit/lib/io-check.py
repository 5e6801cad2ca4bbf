# SPDX-License-Identifier: Apache-2.0
# Part of ../io.sh.
import json, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
before = [(r["path"].rsplit("/", 1)[1], r["sha256_before"]) for r in recs if "sha256_before" in r]
after = [(r["path"].rsplit("/", 1)[1], r["sha256"]) for r in recs if "sha256" in r]
d = json.loads(sys.argv[3])
if not eval(sys.argv[2]):
    sys.exit(f"{before} {after} {d}")
