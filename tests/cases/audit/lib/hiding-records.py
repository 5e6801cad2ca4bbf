# SPDX-License-Identifier: Apache-2.0
# Part of ../hiding.sh.
import json, sys
recs = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
victim = int(sys.argv[2])
deep = {w[1]: int(w[2]) for w in (line.split() for line in open(sys.argv[3])) if w and w[0] == "deep"}
def of(kind, **more):
    return [r for r in recs if r["kind"] == kind and all(r.get(k) == v for k, v in more.items())]
refused = of("deny", path="/workspace/.env")
assert len(refused) == 8 * 400, len(refused)
made = {r["path"] for r in of("create", action="create")}
assert {f"/workspace/needle-{n}" for n in range(8)} <= made, "a needle is lost"
for n in range(8):  # each in its place among the refusals of its thread
    at = of("create", path=f"/workspace/needle-{n}")[0]
    mine = [r["pos"] for r in refused if r["pid"] == at["pid"]]
    assert sum(p < at["pos"] for p in mine) == 201 and len(mine) == 400, (n, len(mine))
assert len(of("open", ino=victim, path="/workspace/victim")) == 1 and len(of("remove", ino=victim)) == 1
# (its number can be given again)
written = of("io", ino=victim, path="/workspace/victim")
assert [(r["offset"], r["written"]) for r in written] == [(0, 9), (100, 8)], written
assert of("attr", ino=victim)[0]["size"] == 3, of("attr", ino=victim)
assert of("io", written=14), "the file without a name"
assert len({p for p in made if p.startswith("/workspace/name")}) == 254, "two names look alike"
left, right = deep["left"], deep["right"]
rename, = [r for r in of("rename") if r["ino"] == left]
assert rename["ino2"] == right and rename["cut"], rename
for name, ino in deep.items():
    r = of("open", ino=ino)[0]
    assert r["cut"] and r["path"].endswith("/" + name) and len(r["path"]) < 5000, r["path"][-40:]
assert not of("gap") and recs[-1]["kind"] == "session.end"
