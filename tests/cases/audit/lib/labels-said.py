# SPDX-License-Identifier: Apache-2.0
# Part of ../labels.sh.
"""STATE: the trails say what was given, and what this process sees of the same host."""
import json
import sys


def ends(session):
    with open(f"{sys.argv[1]}/sessions/{session}/trail.jsonl", encoding="ascii") as f:
        text = f.read()
    assert "unseen-model" not in text, "a value of the environment is in the trail"
    lines = text.splitlines()
    return json.loads(lines[0])["detail"], json.loads(lines[-1])["detail"]


def kernel(name):
    try:
        with open(f"/proc/self/{name}", encoding="ascii") as f:
            n = int(f.read())
    except OSError:
        return None
    return n if n < 2**32 - 1 else None


first, last = ends("one")
assert first["labels"] == {"task": "mend", "ticket": "A-1 'é'"}, first["labels"]
assert ends("two")[0]["labels"] == {"task": "other"}
assert first.get("login_uid") == kernel("loginuid"), first
assert first.get("audit_session") == kernel("sessionid"), first
with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="ascii") as f:
    source = f.read().strip()
for clock in first["clock"], last["clock"]:
    assert clock["source"] == source and clock["synchronised"] in (True, False), clock
    assert clock["max_error_us"] >= 0 and clock["est_error_us"] >= 0, clock
