# SPDX-License-Identifier: Apache-2.0
# Part of ../attest-git.sh.
"""STATEMENT PROJECT SESSION REVISION...: its commits and trees are those, as git itself says; prints what the
statement says of the repository."""
import base64
import json
import subprocess
import sys


def git(*args):
    return subprocess.run(["git", "-C", sys.argv[2], *args], check=True, capture_output=True, text=True).stdout.strip()


with open(sys.argv[1], encoding="ascii") as f:
    s = json.loads(base64.b64decode(json.load(f)["payload"]))
have = {x["name"]: x["digest"] for x in s["subject"] if x["name"].startswith("git:")}
want = {}
for revision in sys.argv[4:]:
    commit = git("rev-parse", revision + "^{commit}")
    want[f"git:/workspace#{commit}"] = {"gitCommit": commit}
    want[f"git:/workspace#{commit}^{{tree}}"] = {"gitTree": git("rev-parse", revision + "^{tree}")}
told = s["predicate"]["git"]
assert have == want, (have, want, told)
assert told["commits"] == told["listed"] == len(sys.argv[4:]), told
if sys.argv[3] == "made":
    moved = {b["name"]: b for b in told["branches"]}
    assert set(moved) == {"refs/heads/main", "refs/heads/side", "refs/heads/older"}, moved
    assert moved["refs/heads/older"]["after"] is None and moved["refs/heads/side"]["before"] is None, moved
    assert moved["refs/heads/main"]["after"] == git("rev-parse", "main"), moved
    assert told["not_looked_at"] == [] and told["elsewhere"] == 0, told
with open("said", "w", encoding="utf-8") as f:
    json.dump(told, f)
