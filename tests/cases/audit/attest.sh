#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An attestation says what the trail says, and verifies with the public key alone. Both verifiers
# notice every change to it. For a session that is not intact, the attestation says so.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# A session as a user makes it.
mkdir project && echo x >project/file
rc=0
(cd project && git init -q . && XDG_STATE_HOME=$PWD/../xdg timeout 120 "$WARD_BUILD/wardfs" run \
	-- sh -c 'for d in /*; do [ -d "$d" ] && echo "$d"; done; cat .env; exit 3') >seen 2>run.err || rc=$?
[ $rc -eq 3 ] || {
	grep -q -i -e 'fuse' -e 'not permitted' run.err && exit 77
	fail "control: the command did not run: $(cat run.err)"
}
STATE=$PWD/xdg/wardfs
vkey=$(audit key show)
session=$(ls "$STATE/sessions")
audit attest -o whole "$session" || fail "attest"
both --attestation whole intact
audit verify "$PWD/whole" | grep -q "^$session: intact: attested 20" || fail "with the host's keys"
python3 "$WARD_SRC/tests/cases/audit/lib/attest-statement.py" "$STATE/sessions/$session/trail.jsonl" whole || fail "the statement is not what the trail is"

# Edited: at every byte of envelope and signature, at random ones of the statement, and by meaning.
python3 "$WARD_SRC/tests/cases/audit/lib/attest-changed.py" || fail "making changed statements"
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
rc=0
audit attest -o s.bad s 2>err || rc=$?
[ $rc -eq 1 ] || fail "exit status of an edited one"
grep -q 'not intact: edited' err || fail "$(cat err)"
both --attestation s.bad edited
grep -q '^s edited 4 5$' mine || fail "$(cat mine)"
expect 1 audit attest -o cut.bad cut
both --attestation cut.bad truncated
grep -q '^cut truncated 5 6$' mine || fail "$(cat mine)"
rc=0
audit attest -o gone.bad gone 2>err || rc=$?
[ $rc -eq 1 ] && [ ! -e gone.bad ] || fail "a statement about nothing"
grep -q 'cannot attest gone' err || fail "$(cat err)"
run --session dies --events 5 --die
i=0
until [ "$(state_of dies)" = "incomplete 7 0" ]; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "dies: $(state_of dies)"
	sleep 0.1
done
expect 1 audit attest -o dies.bad dies
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
rc=0
audit attest -o last.bad last 2>err || rc=$?
[ $rc -eq 1 ] || fail "exit status with an edited ledger"
grep -q 'the ledger is not intact: edited' err || fail "$(cat err)"
both --attestation last.bad incomplete
