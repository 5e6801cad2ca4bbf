# SPDX-License-Identifier: Apache-2.0
# Part of ../index.sh.
import glob, json, sys
rows = json.load(open("rows.json"))
want = []
for log in sorted(glob.glob(sys.argv[1] + "/sessions/*/trail.jsonl")):
    at, start = 0, {}
    for line in open(log, "rb"):
        r = json.loads(line)
        if r["kind"] == "session.start":
            start = r.get("detail") or {}
        want.append((dict(r, login=start.get("login_uid"), audit_session=start.get("audit_session")), at))
        at += len(line)
assert len(rows) == len(want) > 0, (len(rows), len(want))
for row, (r, at) in zip(rows, want):
    assert row["at"] == at, (row, r)
    for k, v in row.items():
        if k != "at":
            assert v == r.get(k), (k, v, r)
