#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An attestation says what the trail says, and holds with the public key alone; whatever is done to it,
# both verifiers find it; of a session that is not intact it says so.
# plain
# timeout: 900
set -u
. "$WARD_SRC/tests/support/audit.sh"

# A session as a user makes it.
mkdir project && echo x >project/file
(cd project && git init -q . && XDG_STATE_HOME=$PWD/../xdg timeout 120 "$WARD_BUILD/wardfs" run \
	-- sh -c 'for d in /*; do [ -d "$d" ] && echo "$d"; done; cat .env; exit 3') >seen 2>run.err
[ $? -eq 3 ] || {
	grep -q -i -e 'fuse' -e 'not permitted' run.err && exit 77
	fail "control: the command did not run: $(cat run.err)"
}
STATE=$PWD/xdg/wardfs
vkey=$(audit key show)
session=$(ls "$STATE/sessions")
audit attest -o whole "$session" || fail "attest"
both --attestation whole intact
audit verify "$PWD/whole" | grep -q "^$session: intact: attested 20" || fail "with the host's keys"
python3 - "$STATE/sessions/$session/trail.jsonl" whole <<'EOP' || fail "the statement is not what the trail is"
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
EOP

# Edited: at every byte of envelope and signature, at random ones of the statement, and by meaning.
python3 - <<'EOP' || fail "making changed statements"
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
EOP
mv bad.same same
n=0
for f in bad.*; do
	case $(head -c 59 "$f") in
	'{"payloadType":"application/vnd.in-toto+json","payload":"ey'*) both --attestation "$f" "edited foreign-key" ;;
	*) continue ;;
	esac
	n=$((n + 1))
done
[ $n -gt 60 ] || fail "only $n changed statements were looked at"
# The way in which they were changed by meaning keeps what is not changed.
both --attestation same intact

# Signed anew with another key: not this host's.
earlier=$vkey
audit key rotate >/dev/null
audit attest -o later "$session" || fail "attest with the fresh key"
both --attestation whole intact
both --attestation later foreign-key
vkey=$(audit key show)
both --attestation whole foreign-key
both --attestation later foreign-key
HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --key "$vkey" --key "$earlier" "$PWD/later" \
	>both.out || fail "with both keys: $(cat both.out)"
audit verify "$PWD/later" >/dev/null || fail "with the host's keys, after rotation"
audit verify "$PWD/whole" >/dev/null || fail "the earlier one, after rotation"

# Not intact: it says so. Nothing genuine: there is none.
STATE=$PWD/state
run --session s --events 9
run --session cut --events 9
run --session gone --events 3
vkey=$(audit key show)
audit attest -o s.att s || fail "control: an intact one"
both --attestation s.att intact
sed -i '5s/cat/dog/' state/sessions/s/trail.jsonl
sed -i '6,$d' state/sessions/cut/trail.jsonl
sed -i 's/cat/dog/; s/"seq":1,/"seq":9,/' state/sessions/gone/trail.jsonl
audit attest -o s.bad s 2>err
[ $? -eq 1 ] || fail "exit status of an edited one"
grep -q 'not intact: edited' err || fail "$(cat err)"
both --attestation s.bad edited
grep -q '^s edited 4 5$' mine || fail "$(cat mine)"
audit attest -o cut.bad cut 2>/dev/null
both --attestation cut.bad truncated
grep -q '^cut truncated 5 6$' mine || fail "$(cat mine)"
audit attest -o gone.bad gone 2>err
[ $? -eq 125 ] && [ ! -e gone.bad ] || fail "a statement about nothing"
grep -q 'nothing can be attested of gone' err || fail "$(cat err)"
run --session dies --events 5 --die
i=0
until [ "$(state_of dies)" = "incomplete 7 0" ]; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "dies: $(state_of dies)"
	sleep 0.1
done
audit attest -o dies.bad dies 2>/dev/null
both --attestation dies.bad incomplete

# A record behind the first wrong one says nothing: what was made of "s" has no end.
python3 -c 'import base64, json
p = json.loads(base64.b64decode(json.load(open("s.bad"))["payload"]))["predicate"]
assert p["end"] is None and p["verify"]["first_bad"] == 5 and p["start"]' || fail "from records that are not genuine"

# A ledger that was changed, though not in the entries of this session: the verdict rests on it.
run --session last --events 3
audit attest -o last.att last || fail "control: with an intact ledger: $(cat err)"
both --attestation last.att intact
sed -i '1s/"kind":"start"/"kind":"stare"/' state/ledger.jsonl
audit attest -o last.bad last 2>err
[ $? -eq 1 ] || fail "exit status with an edited ledger"
grep -q 'the ledger is not intact: edited' err || fail "$(cat err)"
both --attestation last.bad incomplete
