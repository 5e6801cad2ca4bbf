#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Forgeries of trails, checkpoints and ledgers: of somebody who can write the files, who has the
# root key too, and who also signs. Both verifiers notice each, but for the last: those agree with
# themselves (rollback in the threat model), and what was kept elsewhere finds them. Then bundles,
# attestations and proofs.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
forge() { python3 "$WARD_SRC/tests/cases/audit/lib/forgeries.py" "$WARD_SRC/tests/support" "$@"; }
run --session one --events 30 --checkpoint 10
run --session two --events 30 --checkpoint 10
run --session packed --events 400 --sync record --rotate 8000 --pack --checkpoint 10
STATE=$PWD/other
run --session one --events 31 --checkpoint 10
foreign=$(audit key show)
audit bundle -o foreign.tar one
audit attest -o foreign.statement one
STATE=$PWD/state
vkey=$(audit key show)
cat state/sessions/*/checkpoints state/ledger.checkpoints >kept
audit verify --all --checkpoints "$PWD/kept" >said || fail "control: $(cat said)"
audit bundle -o good.tar one
audit bundle -o two.tar two
audit attest -o statement one
audit attest -o statement.two two
audit prove one 7 >proof
cp -a state good
n=0
forge >forgeries
while read -r what who; do
	n=$((n + 1))
	rm -rf state
	cp -a good state
	forge "$STATE" "$what"
	diff -qr good state >/dev/null && fail "control: $what changes nothing"
	if [ "$who" = all ]; then
		agree "$what"
		! grep -v ' intact ' mine || fail "control: $what is noticed without anything kept: $(cat mine)"
		audit verify --all --checkpoints "$PWD/kept" >said && fail "$what: $(cat said)"
		continue
	fi
	if [ "$who" = unread ]; then
		expect 125 audit verify --all
		has "$OUT" "one: unread"
		continue
	fi
	agree "$what"
	grep -qv ' intact ' mine || fail "$what is not noticed: $(cat mine)"
done <forgeries
[ $n -ge 50 ] || fail "only $n forgeries"

# away STATUS FILE WHAT: away from this host, with its key
away() {
	rc=0
	HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --key "$vkey" "./$2" >said 2>&1 || rc=$?
	case $1:$rc in 0:0 | bad:1 | bad:125) ;; *) fail "$3: exit $rc: $(cat said)" ;; esac
	[ "$1" = 0 ] || ! grep -qx '.*: intact.*' said || grep -q -e edited -e foreign -e truncated -e deleted said || fail "$3: $(cat said)"
}
away 0 good.tar "control: bundle"
away 0 statement "control: attestation"
away 0 proof "control: proof"
away bad foreign.tar "a bundle of another host"
away bad foreign.statement "a statement of another host"
python3 - <<'P'
import io, json, base64, tarfile
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
def envelope(path, change):
    e = json.load(open(path))
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
                     ("signature-of-two", lambda e: e.update(signatures=json.load(open("statement.two"))["signatures"]))):
    open("bad-statement-" + name, "wb").write(envelope("statement", change))
proof = open("proof", "rb").read()
record = proof.split(b"\n")[1].split(b" ")[1]
other = base64.b64encode(base64.b64decode(record).replace(b'"path":"/', b'"path":"/x'))
hashes = proof.split(b"\n")[3:5]
for name, old, new in (("record", record, other), ("number", b"index 6", b"index 7"),
                       ("path", hashes[0], hashes[1]), ("state", b"state complete", b"state open"),
                       ("session", b"wardfs/trail/one", b"wardfs/trail/two")):
    changed = proof.replace(old, new, 1)
    assert changed != proof, proof
    open("bad-proof-" + name, "wb").write(changed)
P
for bad in bad-*; do
	away bad "$bad" "$bad"
	n=$((n + 1))
done
echo "$n forgeries"
