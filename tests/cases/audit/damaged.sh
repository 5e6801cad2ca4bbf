#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A question about a trail that was changed, or that is missing: the answer says so, and the exit
# status tells it to a script. The control: the same question before.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
XDG_STATE_HOME=$PWD
export XDG_STATE_HOME
STATE=$PWD/wardfs
project work
cd work
echo hello >a.txt
expect 0 "$WARDFS" run --session good -- cat a.txt
expect 0 "$WARDFS" run --session bad -- cat a.txt

ask() {
	for question in summary denials show 'tail' network policy export 'export --format csv' report \
		'report --format md' approvals; do
		# shellcheck disable=SC2086
		expect "$1" "$WARDFS" audit $question "$2"
		[ "$1" -eq 0 ] || has "$ERR" "this trail is not intact: edited"
		[ "$1" -ne 0 ] || hasnt "$ERR" "not intact"
	done
}

echo "--- one trail: each answer says that it was changed"
ask 0 bad
sed -i 's/"comm":"cat"/"comm":"dog"/' "$STATE/sessions/bad/trail.jsonl"
ask 1 bad
ask 0 good
expect 1 "$WARDFS" audit file a.txt bad
has "$OUT" a.txt
expect 0 "$WARDFS" audit file a.txt good

echo "--- all sessions: each answer says which one it does not cover, and why"
mkdir ../copies
every() {
	for question in network guarantees 'sql "SELECT count(*) FROM records"' 'list --label a=b'; do
		eval expect "$1" '"$WARDFS"' audit "$question" --state '"$2"'
		[ -z "$3" ] || has "$ERR" "$3"
		[ "$3" ] || hasnt "$ERR" "left out"
	done
}
cp "$STATE/sessions/good/trail.jsonl" good.jsonl
cp -r "$STATE" ../copies/whole
every 0 ../copies/whole ""
cp -r "$STATE" ../copies/missing
rm -r ../copies/missing/sessions/good
every 125 ../copies/missing "left out 1 session whose trail is missing or damaged: good (its trail is missing)"
expect 125 "$WARDFS" audit network --state ../copies/missing
has "$ERR" "in the trails that wardfs could read, no connection or attempt is recorded"
has "$ERR" "this answer is incomplete. 'wardfs audit verify --all' verifies each trail"
cp -r "$STATE" ../copies/cut
rm -f ../copies/cut/index.sqlite
sed -i '$d' ../copies/cut/sessions/good/trail.jsonl
for verb in network "sql 'SELECT 1'"; do
	eval expect 125 '"$WARDFS"' audit "$verb" --state ../copies/cut
	has "$ERR" "good (its trail has $(($(wc -l <good.jsonl) - 1)) of $(wc -l <good.jsonl) records)"
done
cp -r "$STATE" ../copies/odd
rm -f ../copies/odd/index.sqlite
sed -i '3s/^./x/' ../copies/odd/sessions/good/trail.jsonl
expect 125 "$WARDFS" audit network --state ../copies/odd
has "$ERR" "of its trail"
expect 0 "$WARDFS" audit remove --force --reason test good
every 0 "$STATE" "left out 1 session whose trail is gone by the ledger: good (removed 20"
has "$ERR" ": test)"

echo "--- a compressed trail with a flipped byte: handed on as it is, with exit status 1"
expect 0 "$WARDFS" run --session packed -- true
expect 0 "$WARDFS" audit prune
flipped=$STATE/sessions/packed/trail.jsonl.zst
expect 0 "$WARDFS" audit attest -o good.att packed
python3 - "$flipped" <<'END'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[len(b) // 2] ^= 1
open(sys.argv[1], "wb").write(b)
END
expect 1 "$WARDFS" audit attest -o flipped.att packed
has "$ERR" "cannot attest packed: edited"
expect 1 "$WARDFS" audit bundle -o flipped.tar packed
has "$ERR" "the trail of packed is not intact; the bundle contains it unchanged"
tar -xf flipped.tar
cmp packed/trail.jsonl.zst "$flipped" || fail "another trail is in the bundle"
[ ! -e packed/attestation.json ] && ! grep -q '^attestation.json' packed/README || fail "it has an attestation"
expect 0 "$WARDFS" audit key show
echo "$OUT" >host.pub
expect 1 "$WARDFS" audit verify --key host.pub flipped.tar
has "$OUT" "packed: edited at record 1"

echo "--- what a report and a summary must not claim: a connection nobody records, a trail that the
command could have changed"
for mode in process none; do
	expect 0 "$WARDFS" run --mode $mode --session in-$mode -- true
	warning="In mode $mode the command has its user's rights and could have changed this trail."
	expect 0 "$WARDFS" audit report --format md in-$mode
	has "$OUT" "The trail is complete and unaltered. $warning"
	expect 0 "$WARDFS" audit summary in-$mode
	has "$OUT" "$warning"
done
expect 0 "$WARDFS" run --session walled -- true
expect 0 "$WARDFS" audit report --format md walled
has "$OUT" "The session had no network. The kernel refuses every connection there, and wardfs records no attempt."
hasnt "$OUT" "network connection"
hasnt "$OUT" "could have changed this trail"
expect 0 "$WARDFS" audit summary walled
has "$OUT" "network    none: the kernel refuses every connection, and wardfs records no attempt"
hasnt "$OUT" "could have changed this trail"
