#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Words of a verdict: a damaged compressed file is named, public keys alone name no single record
# where any of several can be the changed one, and a proof that shows nothing says so.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

run --session plain --events 31
run --session packed --events 180 --sync record --checkpoint 7 --rotate 8000 --pack
audit key show >host.pub
packed=trail.3.jsonl.zst
[ -s "state/sessions/packed/$packed" ] || fail "nothing is compressed: $(ls state/sessions/packed)"

echo "--- a compressed file: flipped in the middle. The control: as it was"
cp "state/sessions/packed/$packed" whole
for how in "" "--key ./host.pub"; do
	# shellcheck disable=SC2086
	expect 0 audit verify $how packed
done
size=$(stat -c %s "state/sessions/packed/$packed")
printf '\377\376' | dd of="state/sessions/packed/$packed" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
for how in "" "--key ./host.pub"; do
	# shellcheck disable=SC2086
	expect 1 audit verify $how packed
	has "$OUT" "packed: edited at record "
	has "$OUT" "the compressed file $packed was changed or damaged, and does not decompress from there on"
done
cp whole "state/sessions/packed/$packed"
expect 0 audit verify packed

echo "--- with public keys alone: one of several, or one"
sed -i '20s/t0-/t1-/' state/sessions/plain/trail.jsonl
expect 1 audit verify plain
has "$OUT" "plain: edited at record 20: "
expect 1 audit verify --key ./host.pub plain
has "$OUT" "plain: edited: one of the records 1 to "
hasnt "$OUT" "at record"
expect 1 audit verify --json --key ./host.pub plain
has "$OUT" '"first_bad": 1'

echo "--- a proof from the checkpoint of no record"
expect 0 audit prove --from 0 packed
has "$ERR" "the checkpoint of 0 records begins every trail: give --from the number of records"
echo "$OUT" >proof
expect 0 audit verify ./proof
has "$OUT" "the first checkpoint covers no record, so this shows only that a checkpoint of"

echo "--- a trail that is missing: by name no answer, and latest is another session"
run --session last --events 31
expect 0 audit summary last
mv state/sessions/last gone
for verb in summary denials report show; do
	expect 125 audit $verb last
	[ -z "$OUT" ] || fail "$verb: $OUT"
	has "$ERR" "last: its trail is missing, and the ledger does not say that it was removed"
	expect 1 audit $verb
	has "$ERR" "session last started later than packed, and its trail is missing: wardfs audit verify last"
done
expect 0 audit summary packed
mv gone state/sessions/last
expect 0 audit summary
hasnt "$ERR" "is missing"
expect 0 audit remove --force --reason test last
audit summary >/dev/null 2>err || :
expect 1 grep "is missing" err
