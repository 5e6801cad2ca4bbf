# SPDX-License-Identifier: Apache-2.0
# Part of ../refused-who.sh.
"""Each refused connection has the process that asked; who did not wait, says why there is none."""
import json
import sys

attempts, without = {}, 0
for line in sys.stdin:
    r = json.loads(line)
    if r.get("action") != "connect" or r.get("proto") != "tcp" or "port" not in r:
        continue
    assert "pid" in r, r
    if r["port"] == 6000:
        assert r["pid"] or "who asked is not known: " in r["text"], r
        continue
    n = r["port"] - 5000
    assert r["pid"] and r.get("comm") == f"ask-{n}", r
    attempts[n] = r["pid"]
assert sorted(attempts) == list(range(40)), sorted(attempts)
assert len(set(attempts.values())) == 40, attempts
