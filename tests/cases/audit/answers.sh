#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Answers of the trail that a newcomer would take for others: limits that nobody set, the attempts
# that wardfs makes itself, times as they are printed, files that exist already, and empty answers.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
XDG_STATE_HOME=$PWD
export XDG_STATE_HOME
STATE=$PWD/wardfs
project work
cd work
echo KEY=1 >.env
echo hello >a.txt
expect 0 "$WARDFS" run --session quiet -- cat a.txt
expect 1 "$WARDFS" run --session curious -- cat .env

echo "--- limits: only those that a policy sets. /tmp has a default, which a mode has or lacks"
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nread = /workspace/**\n' >../bare.policy
for mode in restricted process; do
	expect 0 "$WARDFS" run --policy ../bare.policy --mode $mode --session bare-$mode -- true
done
{ cat ../bare.policy && printf '[limits]\nfile = 1G\n'; } >../file.policy
expect 0 "$WARDFS" run --policy ../file.policy --session file -- true
expect 1 "$WARDFS" audit guarantees --json
echo "$OUT" | python3 -c '
import json, sys; g = json.load(sys.stdin)["guarantees"]
assert g["limit-file"] == {"held": 1, "missing": []}, g
assert not {"limit-cpus", "limit-cpu-time"} & set(g), g
assert [m["session"] for m in g["limit-tmp"]["missing"]] == ["bare-process"], g
assert g["limit-tmp"]["held"] == 4, g' || fail "limits: $OUT"
expect 0 "$WARDFS" audit show --json --kind session.start bare-restricted
has "$OUT" '"tmp":{"value":1073741824,"by":"tmpfs"}'
hasnt "$OUT" '"limit-file"'

echo "--- a path: what the session did, not what wardfs tried before it. The control: by their kind"
for index in '' --no-index; do
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" audit list --json $index --path /workspace/.env
	echo "$OUT" | python3 -c 'import json, sys; assert [(s["session"], s["matching"]) for s in json.load(sys.stdin)] == [("curious", 1)]' ||
		fail "list $index --path: $OUT"
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" audit show --json $index --path /workspace/.env quiet
	[ -z "$OUT" ] || fail "show $index --path: $OUT"
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" audit show --json $index --kind probe --path /workspace/.env quiet
	has "$OUT" '"kind":"probe"'
	rule=$(echo "$OUT" | sed 's/.*"rule":"\([^"]*\)".*/\1/')
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" audit show --json $index --rule "$rule" quiet
	[ -z "$OUT" ] || fail "show $index --rule: $OUT"
done
expect 0 "$WARDFS" audit sql "SELECT DISTINCT session FROM records WHERE path = '/workspace/.env' AND kind <> 'probe'"
[ "$OUT" = "session
curious" ] || fail "sql: $OUT"

echo "--- the times that list prints, and until when"
expect 0 "$WARDFS" audit list
start=$(echo "$OUT" | sed -n 's/^quiet  *\([^ ]*\) .*/\1/p')
expect 0 "$WARDFS" audit policy --at "$start" quiet
has "$OUT" "[policy]"
# To the nanosecond, as the ledger has it: before the first record.
expect 0 "$WARDFS" audit list --json
start=$(echo "$OUT" | python3 -c 'import json, sys; print(next(s["start"] for s in json.load(sys.stdin) if s["session"] == "quiet"))')
expect 0 "$WARDFS" audit policy --at "$start" quiet
has "$OUT" "[policy]"
expect 125 "$WARDFS" audit policy --at 2000-01-01 quiet
has "$ERR" "quiet began later than 2000-01-01"
has "$ERR" ": it started at 20"
for verb in guarantees network; do
	expect 0 "$WARDFS" audit $verb --json --until 2000-01-01
	hasnt "$OUT" held
	expect 2 "$WARDFS" audit $verb --until soon
done
expect 1 "$WARDFS" audit guarantees --json --since "$start" --until 2999
has "$OUT" '"sessions": 5'

echo "--- an existing file stays, unless --force says so"
for verb in report bundle attest; do
	expect 0 "$WARDFS" audit $verb -o kept quiet
	cp kept before
	expect 125 "$WARDFS" audit $verb -o kept curious
	has "$ERR" "kept already exists; give another name, or --force to replace it"
	cmp -s kept before || fail "$verb: replaced"
	expect 0 "$WARDFS" audit $verb --force -o kept curious
	cmp -s kept before && fail "$verb: not replaced"
	expect 2 "$WARDFS" audit $verb --force curious
	has "$ERR" "--force goes with -o FILE"
	rm kept before
done

echo "--- nothing left: why, in place of a heading without rows"
expect 0 "$WARDFS" audit network quiet
[ -z "$OUT" ] || fail "network: $OUT"
has "$ERR" "had no network ([network] mode = none): the kernel refuses each connection, and no attempt is recorded"
expect 0 "$WARDFS" audit network
[ -z "$OUT" ] || fail "network: $OUT"
has "$ERR" "no connection or attempt is recorded"
expect 0 "$WARDFS" audit network --json quiet
[ "$OUT" = "[]" ] || fail "network --json: $OUT"
expect 0 "$WARDFS" audit remove --force --reason test quiet
expect 125 "$WARDFS" audit network quiet
[ -z "$OUT" ] || fail "network of a removed session: $OUT"
has "$ERR" "quiet: its trail was removed"
expect 125 "$WARDFS" audit remove --force --reason again quiet
has "$ERR" "quiet: its trail was removed"

echo "--- a file for a session, and a host without trails"
expect 0 "$WARDFS" audit attest -o attested curious
expect 125 "$WARDFS" audit verify attested
has "$ERR" "attested is a file here: wardfs audit verify ./attested"
expect 0 "$WARDFS" audit verify ./attested
rm attested
expect 125 env XDG_STATE_HOME="$PWD/none" "$WARDFS" audit verify curious
has "$ERR" "this host has no trails. To verify a file of another host: wardfs audit verify --key KEY ./FILE"

echo "--- a directory for a trail, and a key that was rotated"
expect 125 "$WARDFS" audit verify "$STATE/sessions/file"
has "$ERR" "$STATE/sessions/file is a directory; give the trail in it: $STATE/sessions/file/trail.jsonl"
expect 125 "$WARDFS" audit verify --checkpoints "$STATE/sessions/file/checkpoints" "$STATE/sessions/file"
has "$ERR" "give the trail in it"
expect 0 "$WARDFS" audit key show
echo "$OUT" >host.pub
expect 0 "$WARDFS" audit key rotate
expect 0 "$WARDFS" run --session later -- true
expect 1 "$WARDFS" audit verify --key host.pub later
has "$OUT" "later: foreign key"
has "$ERR" "'wardfs audit key chain', and give both: --key KEY --key CHAIN"
expect 0 "$WARDFS" audit key chain
echo "$OUT" >host.chain
expect 0 "$WARDFS" audit verify --key host.pub --key host.chain later
expect 0 "$WARDFS" audit verify --key host.pub file
hasnt "$ERR" chain

echo "--- a bundle of a host that has rotated its key: the first key suffices"
"$WARDFS" audit key rotate >/dev/null
for session in file later; do
	expect 0 "$WARDFS" audit bundle -o $session.tar $session
	expect 0 "$WARDFS" audit verify --key host.pub ./$session.tar
	has "$OUT" "$session: intact"
	has "$OUT" "$session/attestation.json: intact"
	hasnt "$ERR" chain
done
OTHER=$(dirname "$STATE")/other
mkdir "$OTHER"
expect 0 env XDG_STATE_HOME="$OTHER" "$WARDFS" run --session elsewhere -- true
expect 0 env XDG_STATE_HOME="$OTHER" "$WARDFS" audit key show
echo "$OUT" >other.pub
expect 1 "$WARDFS" audit verify --key other.pub ./later.tar
has "$OUT" "later: foreign key"
# A host that enrolled the first key takes the later ones, too.
expect 1 env XDG_STATE_HOME="$OTHER" "$WARDFS" audit verify ./later.tar
has "$OUT" "later: foreign key"
expect 0 env XDG_STATE_HOME="$OTHER" "$WARDFS" audit key enroll "$(cat host.pub)"
expect 0 env XDG_STATE_HOME="$OTHER" "$WARDFS" audit verify ./later.tar
has "$OUT" "later/attestation.json: intact"
# Attacks: a link left out, one of another host, one whose signature is of another, none at all.
tar -xf later.tar
tar_of() {
	tar --format=ustar --owner=0 --group=0 -cf changed.tar later/*
}
mv later/key.chain chain
tar_of
expect 1 "$WARDFS" audit verify --key host.pub ./changed.tar
has "$OUT" "later: foreign key"
sed -n 2p chain >later/key.chain
tar_of
expect 1 "$WARDFS" audit verify --key host.pub ./changed.tar
has "$OUT" "later: foreign key"
env XDG_STATE_HOME="$OTHER" "$WARDFS" audit key rotate >/dev/null
env XDG_STATE_HOME="$OTHER" "$WARDFS" audit key chain >later/key.chain
tar_of
expect 1 "$WARDFS" audit verify --key host.pub ./changed.tar
has "$OUT" "later: foreign key"
awk '{ print $1, $2, "'"$(sed -n '2s/.* //p' chain)"'" }' chain >later/key.chain
tar_of
expect 1 "$WARDFS" audit verify --key host.pub ./changed.tar
has "$OUT" "later: edited"
has "$OUT" "key.chain has a line that the key before did not sign"
cp chain later/key.chain
tar_of
expect 0 "$WARDFS" audit verify --key host.pub ./changed.tar

echo "--- rotations alone are no key: no form falls back to this host's. The control: with the key"
expect 0 "$WARDFS" audit prove later 1
echo "$OUT" >proof
expect 0 "$WARDFS" audit attest -o attested later
for what in later ./later.tar ./proof ./attested "$STATE/sessions/later/trail.jsonl" --all --json; do
	expect 2 "$WARDFS" audit verify --key ./chain "$what"
	has "$ERR" "neither a public key nor a file of public keys"
	[ -z "$OUT" ] || fail "$what: $OUT"
	expect 0 "$WARDFS" audit verify --key host.pub --key ./chain "$what"
	expect 0 "$WARDFS" audit verify --key ./chain --key host.pub "$what"
done
# In any order: the links too. A link that another key leads to counts for nothing still.
tac chain >riahc
cat riahc host.pub >both
expect 0 "$WARDFS" audit verify --key ./riahc --key host.pub later
expect 0 "$WARDFS" audit verify --key ./both later
expect 1 "$WARDFS" audit verify --key ./chain --key other.pub later
has "$OUT" "later: foreign key"
tail -n 1 chain >half
expect 1 "$WARDFS" audit verify --key ./half --key host.pub later
has "$OUT" "later: foreign key"
expect 0 "$WARDFS" audit key show --ledger
expect 2 "$WARDFS" audit verify --key "$OUT" --key ./chain later
