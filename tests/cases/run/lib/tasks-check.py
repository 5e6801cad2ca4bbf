# SPDX-License-Identifier: Apache-2.0
# Part of ../tasks.sh.
import json
import os
import sys

count, results = int(sys.argv[1]), sys.argv[2]


def text(*path):
    with open(os.path.join(results, *path), encoding="utf-8") as f:
        return f.read()


told = json.loads(text("result.json"))
assert [t["name"] for t in told] == [f"task-{n}" for n in range(count)], told
assert len({t["session"] for t in told}) == count, told
for n, task in enumerate(told):
    name = task["name"]
    assert task == json.loads(text(name, "result.json")), name
    assert task["verified"] and task["session"] == name, task
    assert task["status"] == {3: 7, 4: 9}.get(n, 0), (task, text(name, "output"))
    assert 0 < task["start_ms"] <= task["ms"], task
    # The control: it wrote where its own policy lets it, and only there.
    mine = os.path.join(results, name, "tree", "mine")
    if n % 3 and n != 4:
        assert text(name, "tree", "mine") == f"{n}\n", name
    else:
        assert not os.path.exists(mine), name
    assert not os.path.exists(os.path.join(results, name, "tree", "attack")), name
    assert "secret" not in text(name, "output"), name
    assert n % 3 == 0 or n == 4 or ".env: No such file" in text(name, "messages"), name
    assert n == 4 or "readme" in text(name, "output"), (name, text(name, "output"))
    kinds = {json.loads(line)["kind"] for line in text(name, "trail.jsonl").splitlines()}
    assert {"session.start", "session.end"} <= kinds, (name, kinds)
    assert f'"task":"{name}"' in text(name, "trail.jsonl").replace(" ", ""), name
