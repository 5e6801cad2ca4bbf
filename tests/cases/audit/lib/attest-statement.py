# SPDX-License-Identifier: Apache-2.0
# Part of ../attest.sh.
import base64, hashlib, json, sys
trail = open(sys.argv[1], "rb").read()
recs = [json.loads(line) for line in trail.splitlines()]
s = json.loads(base64.b64decode(json.load(open(sys.argv[2]))["payload"]))
p, start = s["predicate"], recs[0]
assert s["subject"][0]["digest"]["sha256"] == hashlib.sha256(trail).hexdigest()
assert s["subject"][0]["name"] == "wardfs/trail/" + start["session"]
assert p["policy"]["digest"]["sha256"] == start["policy"]
assert p["start"]["mode"] == start["detail"]["mode"] and p["start"]["time"] == start["time"]
assert "argv" not in json.dumps(p) and "exit 3" not in json.dumps(p)
assert {g["name"]: g["value"] for g in p["guarantees"]} == start["detail"]["sandbox"]
assert all(g["how"] for g in p["guarantees"]) and {"seccomp", "keyring"} <= {g["name"] for g in p["guarantees"]}
mounts = start["detail"]["mounts"]
assert p["mounts"]["recorded"] == [m["path"] for m in mounts if m["recorded"]] == ["/agent-home", "/workspace"]
assert p["mounts"]["not_recorded"] == [m["path"] for m in mounts if not m["recorded"]]
# What the command can see and no record tells of is named, and nothing that is not there.
assert {"/usr", "/etc", "/tmp", "/proc"} <= set(p["mounts"]["not_recorded"]), p["mounts"]
assert len(set(p["mounts"]["not_recorded"])) == len(p["mounts"]["not_recorded"])
seen = open("seen").read().split()
assert set(seen) <= {"/" + m.split("/")[1] for part in p["mounts"].values() for m in part}, seen
assert p["end"]["status"] == 3 and p["end"]["time"] == recs[-1]["time"]
assert p["verify"]["state"] == "intact" and p["verify"]["records"] == len(recs)
assert p["verify"]["ledger"] == "intact"
assert p["refused"] == sum(r["kind"] == "deny" for r in recs)
notes = open(sys.argv[1].replace("trail.jsonl", "checkpoints")).read()
assert notes.startswith(p["checkpoints"]["first"]) and notes.endswith(p["checkpoints"]["last"])
