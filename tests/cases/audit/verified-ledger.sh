#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit verify --all --verified FILE reads only the new part of the ledger. It finds what
# was added, cut or forged there, and checks that the tree continues the old one. A full
# verification finds changes in the older part.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
entries() { grep -c . state/ledger.jsonl; }
checked() {
	want=$1
	shift
	expect "$want" audit verify --all --verified kept "$@"
}
resumed() { has "$OUT" "ledger: intact: the first $1 entries as they were verified before, not read again"; }
digest() { sha256sum <kept | cut -d' ' -f1; }

for s in one two; do
	run --session $s --events 8
done
checked 0
n=$(entries)
# Only new entries are read, and the digest of the kept state is compared.
run --session three --events 8
d=$(digest)
checked 0 --digest "$d"
resumed "$n"
has "$OUT" "three: intact"
hasnt "$OUT" "one: "
checked 0 --digest "$(digest)"
resumed "$(entries)"
expect 125 audit verify --all --verified kept --digest "$d"
has "$ERR" "has changed: its SHA-256 is"

# However many entries are added, one by one, until subtrees of any size are whole.
n=$(entries)
cp kept one-kept
for _ in 1 2 3 4 5 6 7 8 9; do
	audit show one >/dev/null || fail "show"
	cp one-kept kept
	checked 0
	resumed "$n"
done

# Keys of the host, and sessions that are not settled, are kept with it.
audit key rotate >/dev/null || fail "rotate"
run --session four --events 8
run --session killed --events 8 --die
# Its writer goes on without it.
wait_until 60 grep -q '"session":"killed","kind":"end"' state/ledger.jsonl || fail "no end of it"
checked 1
has "$OUT" "four: intact"
has "$OUT" "killed: incomplete"
n=$(entries)
checked 1
resumed "$n"
has "$OUT" "killed: incomplete"
hasnt "$OUT" "four: "
audit key rotate >/dev/null || fail "rotate again"
run --session five --events 8
checked 1
resumed "$n"
has "$OUT" "five: intact"
agree "incremental"

# New entries of a settled session are read with all older ones, and the verdict is the same.
audit hold --reason why one >/dev/null || fail "hold"
checked 1
has "$ERR" "one has changed: wardfs reads the ledger from its beginning"
hasnt "$OUT" "not read again"
checked 1
resumed "$(entries)"
run --session one.2 --events 8
checked 1
has "$OUT" "one.2: intact"

# With checkpoints that were kept elsewhere all of it is read.
cat state/sessions/*/checkpoints >elsewhere
checked 1 --checkpoints "$PWD/elsewhere"
hasnt "$OUT" "not read again"
hasnt "$OUT" "does not know it"
cp -a state good
cp kept good.kept
n=$(entries)
again() {
	# In its place: a copy has other inodes.
	cp good/ledger.jsonl state/ledger.jsonl
	cp good/ledger.checkpoints state/ledger.checkpoints
	cp good.kept kept
}
again
checked 1
resumed "$n"
# Attack: an entry of before is changed. Not read, not found: this is what it does not promise.
sed -i '2s/"time":"2/"time":"3/' state/ledger.jsonl
checked 1
resumed "$n"
expect 1 audit verify --all
has "$OUT" "ledger: edited at record 2"
run --session six --events 8
checked 1
resumed "$n"
has "$OUT" "six: intact"
expect 1 audit verify --all
has "$OUT" "ledger: edited at record 2"
rm -r state/sessions/six
# Attack: entries are cut off, or others stand in their place.
again
sed -i '$d' state/ledger.jsonl
checked 1
has "$OUT" "ledger: truncated"
again
sed -i '$s/"mac":"./"mac":"z/' state/ledger.jsonl
checked 1
has "$OUT" "ledger: edited"
# Attack: an entry is added without the key, or a checkpoint over other entries.
again
tail -n 1 state/ledger.jsonl >>state/ledger.jsonl
checked 1
hasnt "$OUT" "ledger: intact"
again
run --session six --events 8
python3 - <<'P'
text = open("state/ledger.checkpoints", encoding="utf-8").read().rstrip("\n").split("\n")
text[-3] = text[2]
open("state/ledger.checkpoints", "w", encoding="utf-8").write("\n".join(text) + "\n")
P
checked 1
has "$OUT" "ledger: edited"
# Attack: what is kept names another tree, or another place.
rm -r state/sessions/six
for how in '/^@ledger/{s/ [0-7]\([0-9a-f]\{63\}\)$/ 8\1/;t;s/ .\([0-9a-f]\{63\}\)$/ 0\1/}' 's/^@ledger \([0-9]*\) [0-9]*/@ledger \1 1000/'; do
	again
	sed -i "$how" kept
	cmp -s kept good.kept && fail "control: $how"
	run --session six --events 8
	checked 1
	hasnt "$OUT" "ledger: intact: the first"
	has "$OUT" "six: intact"
	rm -r state/sessions/six
done
again
sed -i 's/^@ledger .*/@ledger x/' kept
checked 125
has "$ERR" "was not written by --verified"
# That of an earlier wardfs: without the ledger.
again
sed -i -e 's/^wardfs verified 2/wardfs verified 1/' -e '/^@/d' kept
checked 1
hasnt "$OUT" "not read again"
grep -q '^@ledger ' kept || fail "not brought up to date: $(cat kept)"
