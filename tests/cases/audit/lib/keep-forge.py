# SPDX-License-Identifier: Apache-2.0
# Part of ../keep.sh.
import base64, hashlib, json, os, subprocess, sys, tempfile
state, name, when, signer, kind = (sys.argv[1:] + ["expired"])[:5]
h = lambda k, m: hashlib.blake2b(m, key=k, digest_size=32).digest()
root = open(state + "/key", "rb").read()
seed = open(state + "/signing.key", "rb").read() if signer == "own" else os.urandom(32)
lines = open(state + "/ledger.jsonl", "rb").read().splitlines()
entries = [json.loads(l) for l in lines]
end = [e for e in entries if e["session"] == name and e["kind"] == "end"][-1]
key = [e for e in entries if e["session"] == name and e["kind"] == "start"][-1]["key"]
text = f"wardfs/{kind}/{name}\n{end['records']}\n{end['last']}\n".encode()
with tempfile.TemporaryDirectory() as d:
    open(d + "/k", "wb").write(bytes.fromhex("302e020100300506032b657004220420") + seed)
    open(d + "/t", "wb").write(text)
    sig = subprocess.run(["openssl", "pkeyutl", "-sign", "-keyform", "DER", "-inkey", d + "/k",
                          "-rawin", "-in", d + "/t"], stdout=subprocess.PIPE, check=True).stdout
last = entries[-1]
body = json.dumps({"v": 1, "seq": last["seq"] + 1, "session": name, "kind": kind, "time": when,
                   "records": end["records"], "key": key,
                   "signature": base64.b64encode(sig).decode()}, separators=(",", ":"))[:-1].encode()
mac = h(h(root, f"wardfs ledger {kind}\0{name}".encode()), bytes.fromhex(last["mac"]) + body)
with open(state + "/ledger.jsonl", "ab") as f:
    f.write(body + b',"mac":"' + mac.hex().encode() + b'"}\n')
