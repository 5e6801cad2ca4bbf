# SPDX-License-Identifier: Apache-2.0
# Part of ../export-to.sh.
import json, re
trail = [json.loads(l) for l in open("state/sessions/x/trail.jsonl")]
for name in "tcp", "unix":
    lines = open(name + ".out", encoding="utf-8", newline="\n").read().split("\n")[:-1]
    assert len(lines) == len(trail), (name, len(lines))
    for line, r in zip(lines, trail):
        m = re.fullmatch(r'(\S+) wardfs (\S+) \[wardfs@32473 session="x" seq="(\d+)" mac="([0-9a-f]{64})"\] ?(.*)', line)
        assert m, line
        assert (m[2], int(m[3]), m[4]) == (r["kind"], r["seq"], r["mac"]), line
        assert json.loads(m[5]) == r if name == "tcp" else m[5].startswith("CEF:0|wardfs|"), line
