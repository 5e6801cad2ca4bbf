# SPDX-License-Identifier: Apache-2.0
# Part of ../attest.sh.
import base64, json, random
rnd = random.Random(6)
data = open("whole", "rb").read()
at = data.index(b'"payload":"') + 11
end = data.index(b'"', at)
places = set(rnd.sample(range(at, end), 40)) | set(rnd.sample(range(at), 12)) | set(rnd.sample(range(end, len(data)), 40))
for i in places:
    b = bytearray(data)
    b[i] ^= rnd.choice([1, 2, 4])
    open(f"bad.flip{i}", "wb").write(b)
for i in range(60, len(data), 97):
    open(f"bad.cut{i}", "wb").write(data[:i])
open("bad.tail", "wb").write(data + b"x")
def edit(name, fn):
    e = json.loads(data)
    s = json.loads(base64.b64decode(e["payload"]))
    fn(s["predicate"])
    e["payload"] = base64.b64encode(json.dumps(s, separators=(",", ":")).encode()).decode()
    open("bad." + name, "w").write(json.dumps(e, separators=(",", ":")) + "\n")
edit("same", lambda p: None)
edit("status", lambda p: p["end"].update(status=0))
edit("mounts", lambda p: p["mounts"].update(not_recorded=["/nothing"]))
edit("policy", lambda p: p["policy"]["digest"].update(sha256="0" * 64))
edit("checkpoint", lambda p: p["checkpoints"].update(last=p["checkpoints"]["first"]))
