# SPDX-License-Identifier: Apache-2.0
# Part of ../index.sh.
import json, sys
# A trail as a writer leaves it, but for the macs: renames, links, names beneath others.
kinds = [("open", "/w/a"), ("create", "/w/a/b"), ("rename", "/w/a", "/w/c"), ("open", "/w/ab"),
         ("link", "/w/c", "/w/d/e"), ("open", "/w/c"), ("deny", "/w/a0"), ("open", "/w/d/e"),
         ("rename", "/w/d", "/w/f"), ("open", "/w/f/e"), ("open", "/w/[x]"), ("open", "/w/it's")]
first, last = int(sys.argv[1]), int(sys.argv[2])
for seq in range(first, last + 1):
    kind, *paths = kinds[seq % len(kinds)]
    r = {"v": 1, "seq": seq, "session": "made", "kind": kind, "time": f"2026-01-02T03:04:{seq % 60:02}.000000000Z",
         "pid": seq % 5 + 1, "ring": seq % 2 + 1, "comm": "cat" if seq % 2 else "dog", "action": kind, "path": paths[0]}
    if paths[1:]:
        r["path2"] = paths[1]
    # threads of 3, and of another process that takes their number later; what each started and ran
    if seq % 7 == 0:
        r["parent"] = seq % 4
        if seq % 3:
            r["process"] = 3 if seq % 3 == 1 else 4
    if seq % 11 == 0:
        r.update(kind="exec", path="/usr/bin/" + ("gcc", "make", "ld")[seq // 11 % 3], parent=seq % 4)
        if seq % 2:
            r["exe"] = "/usr/bin/dash"
    r["mono"] = 1000 * seq
    r["verdict"], r["rule"] = ("deny", "p:1") if kind == "deny" else ("allow", "p:2")
    print(json.dumps({**r, "mac": f"{seq:064x}"}, separators=(",", ":")))
