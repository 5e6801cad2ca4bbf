# SPDX-License-Identifier: Apache-2.0
# Part of ../report.sh.
"""The records that a report lists are there with all their members: REPORT TRAIL."""
import json, sys

FRAME = {"v", "session", "mono", "ring", "pos", "lag", "mac", "cut"}
LISTS = {"ask": "approvals", "answer": "approvals", "grant": "approvals", "use": "approvals", "expire": "approvals",
         "revoke": "approvals", "external": "external", "reload": "reloads"}


def members(record):
    """Without the frame. An integer of 64 bits is a string in a report."""
    return {m: str(v) if m == "ino" else v for m, v in record.items() if m not in FRAME}


report = json.load(open(sys.argv[1]))
lists = {name: list(map(members, report[name])) for name in ("approvals", "external", "reloads", "probes")}
assert [a["kind"] for a in report["approvals"]] == [
    kind for kind in ("ask", "answer", "grant", "use", "expire", "revoke") for _ in range(2)], report["approvals"]
assert [len(lists[name]) for name in ("external", "reloads", "probes")] == [2, 2, 1], lists
for line in open(sys.argv[2]):
    record = members(json.loads(line))
    kind = record["kind"]
    if kind in LISTS:
        assert record in lists[LISTS[kind]], record
    # What the filesystem adds about a probe has no result.
    elif kind == "probe":
        assert (record in lists["probes"]) == ("result" in record), record
    elif kind == "session.end":
        assert record == members(report["end"]), record
