# SPDX-License-Identifier: Apache-2.0
# Part of ../faults-killed.sh.
import json, glob, os, sys
trail, project = sys.argv[1:3]
seen = set()
for line in open(trail):
    r = json.loads(line)
    names = [r.get("path", "")] + ([r.get("path2", "")] if r["kind"] in ("rename", "link") else [])
    if not r.get("errno"):
        seen.add((r["kind"], *(n.removeprefix("/workspace/") for n in names)))
acked, missing, left = 0, [], set()
for path in glob.glob(project + "/acked-*"):
    for line in open(path):
        if not line.endswith("\n"):
            continue
        words = tuple(line.split())
        acked += 1
        if words[0] == "open":
            # of a file with two names: recorded under one of them
            b = words[1].replace("/c", "/b")
            if ("open", words[1]) not in seen and ("open", b) not in seen:
                missing.append(words)
        elif words not in seen:
            missing.append(words)
        if words[0] == "link":
            left.add(words[2])
        elif words[0] == "remove":
            left.discard(words[1])
# Linked names that were not unlinked exist. The last unlink may have happened without a message.
gone = [p for p in left if not os.path.exists(os.path.join(project, p))]
if missing or len(gone) > 3:
    sys.exit("missing: %s gone: %s" % (missing[:5], gone[:5]))
print(acked)
