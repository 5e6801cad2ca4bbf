# SPDX-License-Identifier: Apache-2.0
# Part of ../reload.sh.
import json, sys
open_, tight = sys.argv[1:]
recs = [json.loads(l) for l in open("trail")]
loads = [r for r in recs if r["kind"] == "reload"]
ok = [r for r in loads if r["result"] == "loaded"]
bad = [r for r in loads if r["result"] == "refused"]
assert len(ok) >= 17, len(ok)
assert len(bad) >= 5, len(bad)
now = next(r["policy"] for r in recs if r["kind"] == "session.start")
texts = {r["policy"] for r in recs if r["kind"] == "policy"}
for r in loads:
    assert r["policy_before"] == now, r
    if r["result"] == "loaded":
        now = r["policy"]
        assert now in texts and r["detail"]["mono"] <= r["mono"], r
assert any("wriet" in r["text"] for r in bad), bad
# A refusal stands under the policy that was in force: its rule is of that file.
at = 0
for r in recs:
    if r["kind"] == "deny" and r["path"] == "/workspace/f":
        assert "tight" in r["rule"] or "other" in r["rule"] or "over" in r["rule"], r
        at += 1
assert at >= 6, at
assert now == open_, now
