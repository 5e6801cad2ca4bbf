#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host keys: verify trusts a successor through its predecessor, another host's key once it is
# enrolled, and no key after its revocation.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# of FILE [KEY...]: what verify says of a file, its state alone; with keys: away from any host
of() {
	file=$PWD/$1
	shift
	if [ $# -gt 0 ]; then
		HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --json "$@" "$file" >verify.json || [ $? -eq 1 ]
	else
		audit verify --json "$file" >verify.json || [ $? -eq 1 ]
	fi
	python3 -c 'import json
print(json.load(open("verify.json"))[0]["state"])'
}

run --session early --events 10
old=$(audit key show)
first=$(audit key rotate) || fail "rotate"
new=$(audit key rotate) || fail "rotate again"
[ "$new" = "$(audit key show)" ] || fail "rotate prints another key than show"
run --session late --events 10
agree "rotated"
grep -e early -e late mine | grep -qv intact && fail "rotated: $(cat mine)"

# rotation: who has the first key alone
cp -r state/sessions/late away
[ "$(of away/trail.jsonl --key "$new")" = intact ] || fail "control: the key itself"
[ "$(of away/trail.jsonl --key "$old")" = "foreign key" ] || fail "without the chain"
audit key chain >chain || fail "chain"
[ "$(wc -l <chain)" -eq 2 ] || fail "chain: $(cat chain)"
[ "$(of away/trail.jsonl --key "$old" --key ./chain)" = intact ] || fail "with the chain"
# Attacks: the chain leads nowhere from another key, with a link left out, or with a link of one's
# own
other=$(STATE=$PWD/elsewhere run --session foreign --events 10 &&
	"$WARD_BUILD/wardfs" audit key show --state "$PWD/elsewhere")
[ "$(of away/trail.jsonl --key "$other" --key ./chain)" = "foreign key" ] || fail "from another key"
tail -n 1 chain >last
[ "$(of away/trail.jsonl --key "$old" --key ./last)" = "foreign key" ] || fail "a link is missing"
sed "s|^[^ ]* [^ ]*|$other $new|" last >forged
HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --key "$other" --key ./forged \
	"$PWD/away/trail.jsonl" >said 2>&1 && fail "a forged link: $(cat said)"
grep -q 'neither a public key nor' said || fail "a forged link: $(cat said)"

# enroll: a session of another host, and what was taken from it
cp -r elsewhere/sessions/foreign abroad
"$WARD_BUILD/wardfs" audit prove foreign 3 --state "$PWD/elsewhere" >proof 2>/dev/null || fail "prove"
"$WARD_BUILD/wardfs" audit attest --force -o statement foreign --state "$PWD/elsewhere" || fail "attest"
for f in abroad/trail.jsonl proof statement; do
	[ "$(of $f)" = "foreign key" ] || fail "$f, before: $(of $f)"
done
audit key enroll "$other" || fail "enroll"
for f in abroad/trail.jsonl proof statement; do
	[ "$(of $f)" = intact ] || fail "$f, enrolled: $(of $f)"
done
audit key list | grep -qxF "$other enrolled" || fail "list: $(audit key list)"
sed '3s/open/OPEN/' abroad/trail.jsonl >x && cp x abroad/trail.jsonl
[ "$(of abroad/trail.jsonl)" = edited ] || fail "enrolled, edited: $(of abroad/trail.jsonl)"
cp elsewhere/sessions/foreign/trail.jsonl abroad/trail.jsonl

# revoke: what was signed before stays, what comes later is nobody's
audit key revoke "$other" || fail "revoke"
[ "$(of abroad/trail.jsonl)" = intact ] || fail "signed before it was revoked: $(of abroad/trail.jsonl)"
STATE=$PWD/elsewhere run --session after --events 10
cp -r elsewhere/sessions/after abroad2
"$WARD_BUILD/wardfs" audit prove after 3 --state "$PWD/elsewhere" >proof 2>/dev/null || fail "prove"
"$WARD_BUILD/wardfs" audit attest --force -o statement after --state "$PWD/elsewhere" || fail "attest"
for f in abroad2/trail.jsonl proof statement; do
	[ "$(of $f)" = "foreign key" ] || fail "$f, revoked: $(of $f)"
done
[ "$(of abroad2/trail.jsonl --key "$other")" = intact ] || fail "control: as such it is good"
audit key enroll "$other" || fail "enroll again"
[ "$(of abroad2/trail.jsonl)" = intact ] || fail "enrolled again: $(of abroad2/trail.jsonl)"

# the host's own key, stolen: it cannot be revoked while it signs
audit key revoke "$new" 2>err && fail "the present key"
grep -q 'key rotate' err || fail "$(cat err)"
cp state/signing.key stolen
audit key rotate >/dev/null && audit key revoke "$new" || fail "rotate and revoke"
agree "revoked"
grep -e '^early ' -e '^late ' mine | grep -qv intact && fail "signed before: $(cat mine)"
# Attack: a session signed with it all the same, by somebody who can write everything else
cp state/signing.key good
cp stolen state/signing.key
run --session thief --events 10
cp good state/signing.key
agree "stolen"
grep -q '^thief foreign-key ' mine || fail "the stolen key: $(grep thief mine)"
run --session honest --events 10
agree "control"
grep -q '^honest intact ' mine || fail "control: $(grep honest mine)"
grep -q '^ledger intact ' mine || fail "ledger: $(grep ledger mine)"
rc=0
audit key revoke nonsense 2>/dev/null || rc=$?
[ $rc -eq 2 ] || fail "nonsense is no key"

# Several at a time: still one chain, and it ends with the key that signs. The control is that each
# made a key.
audit key chain >before
for _ in 1 2 3 4 5 6 7 8; do
	audit key rotate >/dev/null &
done
wait
audit key chain >after
[ $(($(wc -l <after) - $(wc -l <before))) -eq 8 ] || fail "control: $(cat after)"
python3 - "$(audit key show)" <<'P' || fail "at a time: $(cat after)"
import sys
links = [line.split()[:2] for line in open("after")]
last = [b for _, b in links]
assert all(a[1] == b[0] for a, b in zip(links, links[1:])), "not one chain"
assert last[-1] == sys.argv[1], "it ends elsewhere"
P
# A key that others can read signs nothing. Control: without that it does.
chmod 644 state/key
"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$STATE" \
	--session seen --events 1 >out 2>&1 && fail "a key that others can read"
grep -q 'can be read by others' out || fail "$(cat out)"
chmod 600 state/key
run --session unseen --events 1
