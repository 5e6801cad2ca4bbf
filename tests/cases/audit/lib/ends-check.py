# SPDX-License-Identifier: Apache-2.0
# Of a trail: how many openings to read f0 to f9 say their end, how many have a close, and how many
# there are; how many files new* have a close; where the last handle of f0 has its end.
import json
import sys

recs = [json.loads(line) for line in open(sys.argv[1])]
reads = [r for r in recs if r["kind"] == "open" and r["path"].startswith("/workspace/f")]
closes = [r for r in recs if r["kind"] == "close" and r["path"].startswith("/workspace/f")]
ended = [r for r in reads if "duration" in r]
for r in ended:
    assert "read" in r and 0 < r["duration"] < 60e9, r
    assert r["asked"] == ["read"], r
for r in recs:
    if r["kind"] == "open" and "duration" not in r:
        assert "read" not in r, r
written = [r for r in recs if r["kind"] == "close" and "/new" in r["path"]]
assert all(r["size"] == 1 for r in written), written
made = [r["kind"] for r in recs if r.get("path") == "/workspace/made"]
assert made in (["create", "close"], ["create", "open", "close"]), made
last = [r for r in reads if r["path"] == "/workspace/f0"][-1]
print(len(ended), len(closes), len(reads), len(written), "open" if "duration" in last else "close")
