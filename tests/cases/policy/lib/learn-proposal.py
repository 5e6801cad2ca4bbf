# SPDX-License-Identifier: Apache-2.0
# Part of ../learn.sh.
import json, sys
o = json.load(sys.stdin)
rules = {r["pattern"]: r["verb"] for r in o["rules"]}
assert rules == {"/workspace/build.sh": "read", "/workspace/src/m.c": "read", "/workspace/lib/x/f.c": "read",
    "/workspace/odd \\[dir]/f": "read", "/workspace/build": "write", "/workspace/**/__cache__": "write",
    "/workspace/run.log": "write"}, rules
assert all(r["names"] > 0 and r["times"] >= r["names"] for r in o["rules"]), o["rules"]
assert any(".env" in k for k in o["refused"]) and any("a.pem" in k for k in o["refused"]), o["refused"]
assert list(o["asked"]) == ["web.example:8080"], o["asked"]
assert "extends = medium" in o["text"] and "; allow = web.example:8080" in o["text"], o["text"]
