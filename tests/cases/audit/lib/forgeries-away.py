# SPDX-License-Identifier: Apache-2.0
"""Part of ../forgeries.sh: makes bundles, statements and a proof into others (bad-*)."""
import base64
import io
import json
import tarfile


def members(path):
    with tarfile.open(path) as t:
        return {m.name.split("/", 1)[1] if "/" in m.name else m.name: (m, t.extractfile(m).read())
                for m in t.getmembers() if m.isfile()}


one, two, foreign = (members(n + ".tar") for n in ("good", "two", "foreign"))


def put(name, changes):
    with tarfile.open(f"bad-{name}.tar", "w", format=tarfile.USTAR_FORMAT) as out:
        for key, (info, data) in one.items():
            data = changes.get(key, data)
            if data is None:
                continue
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))


trail = one["trail.jsonl"][1]
rows = trail.split(b"\n")
put("cut", {"trail.jsonl": b"\n".join(rows[:-2]) + b"\n"})
put("edit", {"trail.jsonl": trail.replace(b"/workspace/", b"/workspacf/", 1)})
put("drop", {"trail.jsonl": b"\n".join(rows[:5] + rows[6:])})
put("trail-of-two", {"trail.jsonl": two["trail.jsonl"][1]})
put("trail-of-foreign", {"trail.jsonl": foreign["trail.jsonl"][1]})
put("checkpoints-of-two", {"checkpoints": two["checkpoints"][1]})
put("checkpoints-of-foreign", {"checkpoints": foreign["checkpoints"][1], "trail.jsonl": foreign["trail.jsonl"][1]})
put("whole-of-foreign", {k: v[1] for k, v in foreign.items()})
put("no-checkpoints", {"checkpoints": None})
put("no-trail", {"trail.jsonl": None})
put("statement-of-two", {"attestation.json": two["attestation.json"][1]})
put("statement-of-foreign", {"attestation.json": foreign["attestation.json"][1]})


def save(name, data):
    with open("bad-" + name, "wb") as f:
        f.write(data)


def load(name):
    with open(name, "rb") as f:
        return f.read()


def envelope(path, change):
    e = json.loads(load(path))
    change(e)
    return json.dumps(e).encode()


def payload(old, new):
    def change(e):
        text = base64.b64decode(e["payload"])
        assert old in text, text[:400]
        e["payload"] = base64.b64encode(text.replace(old, new)).decode()
    return change


put("statement-edited", {"attestation.json": envelope("statement", payload(b'"intact"', b'"gap"'))})
for name, change in (("payload", payload(b'"intact"', b'"edited"')),
                     ("name", payload(b"wardfs/trail/one", b"wardfs/trail/two")),
                     ("type", lambda e: e.update(payloadType="application/json")),
                     ("unsigned", lambda e: e.update(signatures=[])),
                     ("signature-of-two", lambda e: e.update(signatures=json.loads(load("statement.two"))["signatures"]))):
    save("statement-" + name, envelope("statement", change))
proof = load("proof")
record = proof.split(b"\n")[1].split(b" ")[1]
other = base64.b64encode(base64.b64decode(record).replace(b'"path":"/', b'"path":"/x'))
hashes = proof.split(b"\n")[3:5]
for name, old, new in (("record", record, other), ("number", b"index 6", b"index 7"),
                       ("path", hashes[0], hashes[1]), ("state", b"state complete", b"state open"),
                       ("session", b"wardfs/trail/one", b"wardfs/trail/two")):
    changed = proof.replace(old, new, 1)
    assert changed != proof, proof
    save("proof-" + name, changed)
