#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit timestamp: an authority (RFC 3161) stamps the ledger's last checkpoint through a
# command of the owner's. openssl verifies the stamp, and verify the ledger.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
command -v openssl >/dev/null || skip "needs openssl"
sh "$WARD_SRC/tests/cases/audit/lib/timestamp-authority.sh" "$PWD/tsa" || fail "no authority"
run --session one --events 20
stamp() { audit timestamp "$@"; }
verified() { openssl ts -verify -CAfile tsa/ca.pem -data "$1" -in "$2"; }
expect 0 stamp "$PWD/tsa/ask" -o point
has "$OUT" "entries of the ledger stamped"
has "$OUT" "openssl ts -verify -CAfile CA.pem -data point -in point.tsr"
expect 0 verified point point.tsr
expect 0 audit verify --all --checkpoints point
openssl ts -reply -text -in point.tsr 2>/dev/null | grep -q '^Hash Algorithm: sha256' || fail "no SHA-256"
# It got the request and nothing else: no argument that somebody else chose.
[ "$(cat tsa/arguments)" = 0 ] || fail "arguments: $(cat tsa/arguments)"
# A later entry is in a later stamp, and the earlier stamp stays true.
run --session two --events 5
expect 0 stamp "$PWD/tsa/ask" -o later
! cmp -s point later || fail "one checkpoint for both"
expect 0 verified later later.tsr
expect 0 audit verify --all --checkpoints point
# Attack: the ledger is made anew, without what was stamped; the stamped checkpoint is exchanged.
cp -a state untouched
sed -i '$d' state/ledger.jsonl
expect 1 audit verify --all --checkpoints later
has "$OUT" "ledger: "
rm -rf state
mv untouched state
sed 's/^[0-9][0-9]*$/999/' point >forged
! cmp -s point forged || fail "control: nothing was forged"
refused "" verified forged point.tsr
refused "" verified later point.tsr
# A file that is there stays; nothing is written where there is no stamp.
expect 125 stamp "$PWD/tsa/ask" -o point
has "$ERR" "point"
expect 0 verified point point.tsr
for how in refuses:'the authority refused' replays:'answered another request' garbage:'no answer of a time stamp' \
	silent:'no answer of a time stamp' fails:'ended with an error (status 3)' floods:'File too large' \
	cut:'no answer of a time stamp' more:'no answer of a time stamp'; do
	expect 125 stamp "$PWD/tsa/${how%%:*}" -o none
	has "$ERR" "${how#*:}"
	[ ! -e none ] && [ ! -e none.tsr ] || fail "${how%%:*}: something was written"
done
# A command that has closed its output and goes on is ended, two minutes later.
if [ -n "${WARD_LONG-}" ]; then
	printf '#!/bin/sh\nexec >&-\nexec sleep 3600\n' >tsa/lingers
	chmod 755 tsa/lingers
	expect 125 stamp "$PWD/tsa/lingers" -o none
	has "$ERR" "timed out"
fi
expect 125 stamp "$PWD/tsa/absent" -o none
has "$ERR" "cannot be started"
expect 125 stamp tsa/ask -o none
has "$ERR" "absolute path"
expect 2 stamp "$PWD/tsa/ask"
expect 2 stamp
