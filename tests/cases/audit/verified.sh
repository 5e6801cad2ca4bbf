#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit verify --all --verified FILE skips trails that were intact and did not change. It
# reports trails that are new, changed, missing or no longer in the ledger.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
for s in one two three; do
	run --session $s --events 20
done
# checked STATUS ARG...: verify --all with what was kept
checked() {
	want=$1
	shift
	expect "$want" audit verify --all --verified kept "$@"
}
digest() { sha256sum <kept | cut -d' ' -f1; }
checked 0
for s in one two three; do
	has "$OUT" "$s: intact"
done
has "$ERR" "0 sessions are unchanged since they were verified; kept now has SHA-256 $(digest)"
[ "$(wc -l <kept)" -eq 5 ] || fail "kept: $(cat kept)"
[ "$(stat -c %a kept)" = 600 ] || fail "mode: $(stat -c %a kept)"
checked 0 --digest "$(digest)"
all=$(grep -c . state/ledger.jsonl)
[ "$OUT" = "ledger: intact: the first $all entries as they were verified before, not read again ($all records good)" ] ||
	fail "read again: $OUT"
has "$ERR" "3 sessions are unchanged since they were verified"
# Only the new records are read.
run --session four --events 20
checked 0 --json
echo "$OUT" | python3 -c 'import json, sys; assert [s["name"] for s in json.load(sys.stdin)] == ["ledger", "four"]' ||
	fail "new: $OUT"
cp kept good
cp -a state untouched
untouched() {
	rm -rf state
	cp -a untouched state
	# A copy has other inodes: the control reads it once.
	rm -f kept
	checked 0
	checked 0
	has "$ERR" "4 sessions are unchanged since"
}
trail() { find "state/sessions/$1" -name 'trail.jsonl*'; }

# Attack: a byte of a trail that was verified, with the size and the time of the file as they were.
untouched
touch -r "$(trail two)" time
printf x | dd of="$(trail two)" bs=1 seek=2000 conv=notrunc 2>/dev/null
touch -r time "$(trail two)"
checked 1
has "$OUT" "two: "
hasnt "$OUT" "two: intact"
has "$ERR" "3 sessions are unchanged since"
# ... which is told again each time: it was not kept.
checked 1
hasnt "$OUT" "two: intact"
# The same of its checkpoints, and of what is added to its directory.
untouched
sed -i 1d state/sessions/one/checkpoints
checked 1
has "$OUT" "one: edited"
untouched
echo >state/sessions/three/policy.7
checked 0
has "$OUT" "three: intact"
# Attack: a trail is gone; a session's entries are cut off the ledger.
untouched
rm -r state/sessions/two
checked 1
has "$OUT" "two: missing"
untouched
cp kept before
sed -i '/"session":"four"/,$d' state/ledger.jsonl
rm -r state/sessions/four
checked 1
has "$OUT" "ledger: truncated"
has "$OUT" "four: missing: an earlier run verified it, and the ledger has no entry of it now"
cmp -s kept before || fail "a ledger that was cut changed what is kept"
# Attack: what is kept says that an edited trail was verified. Its digest, kept elsewhere, tells.
untouched
was=$(digest)
printf x | dd of="$(trail two)" bs=1 seek=2000 conv=notrunc 2>/dev/null
sed -i 's/^two .*/two 23 00 00/' kept
checked 125 --digest "$was"
has "$ERR" "kept has changed: its SHA-256 is $(digest)"
checked 1
hasnt "$OUT" "two: intact"
# A file that is none of this kind, and wrong usage.
echo nonsense >kept
checked 125
has "$ERR" "was not written by --verified"
rm kept
checked 125 --digest "$was"
ln -s good kept
expect 125 audit verify --all --verified kept
has "$ERR" "kept"
rm kept
expect 2 audit verify --verified kept one
expect 2 audit verify --all --digest "$was"
expect 2 audit verify --all --verified kept --digest xyz
expect 2 audit verify --all --verified kept --key "$(audit key show)"
