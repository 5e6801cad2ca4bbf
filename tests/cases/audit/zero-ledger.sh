#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host stopped, and the end of a file of the ledger is zeros, half a line, or missing: what was
# appended last, and was not on the disk yet. No verifier calls that an edit, and the next start
# puts it right. What was on the disk before cannot go that way: that is found.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

for s in one two three four; do
	run --session $s --events 5
done
cp -a state good
entries=$(grep -c . state/ledger.jsonl)

# put FILE PYTHON: the file becomes what this makes of its bytes d; `at`: its checkpoints or lines
put() {
	rm -rf state
	cp -a good state
	python3 -c '
import sys
d = open(sys.argv[1], "rb").read()
head = b"{" if sys.argv[1].endswith(".jsonl") else d.partition(b"\n")[0] + b"\n"
at = [i for i in range(len(d)) if d.startswith(head, i) and d[i - 1:i] in (b"", b"\n")]
open(sys.argv[1], "wb").write(eval(sys.argv[2]))' "state/$1" "$2"
}

# ledger WANTED WHAT: both verifiers say so of the ledger
ledger() {
	agree "$2"
	grep -q "^ledger $1\$" mine || fail "$2: $(grep ^ledger mine), not $1"
}

# next WHAT: after the next session everything is intact, the ledger with a checkpoint over all
next() {
	run --session next --events 5
	audit verify --all >said || [ $? -eq 1 ] || fail "$1, then: $(cat said)"
	agree "$1, then"
	hasnt "$(cat said)" "no checkpoint covers"
	[ "$(tr -d '\0' <state/ledger.checkpoints | wc -c)" -eq "$(wc -c <state/ledger.checkpoints)" ] ||
		fail "$1: zeros are left"
}

ledger "intact $entries 0" control
# The last checkpoint is on disk only when many others follow it: from it on, from its middle on,
# behind it, over pages.
for form in 'd[:at[-1]] + bytes(len(d) - at[-1])' 'd[:at[-1] + 90] + bytes(4096)' 'd + bytes(500)' \
	'd + bytes(9000)' 'd[:at[-1] + 90]' 'd[:at[-1]]' 'd[:at[-2] + 20] + bytes(len(d) - at[-2])'; do
	put ledger.checkpoints "$form"
	ledger "intact $entries 0" "checkpoints: $form"
	next "checkpoints: $form"
	grep -q "^ledger intact " mine || fail "$form, then: $(grep ^ledger mine)"
done
# Zeros in front of a checkpoint, and other text in front of zeros.
for form in 'd[:at[-2]] + bytes(at[-1] - at[-2]) + d[at[-1]:]' 'd + b"x\n" + bytes(500)'; do
	put ledger.checkpoints "$form"
	ledger "edited $entries 0" "checkpoints: $form"
done
# Entries say which checkpoints are on the disk: those do not go by a power cut.
for form in 'b""' 'bytes(len(d))' 'd[:at[0]] + bytes(len(d) - at[0])'; do
	put ledger.checkpoints "$form"
	ledger "deleted $entries 0" "checkpoints: $form"
done
put ledger.checkpoints d
rm state/ledger.checkpoints
ledger "deleted $entries 0" "no checkpoints"

# An entry that nobody was told of yet.
for form in 'd + bytes(300)' 'd + bytes(9000)' 'd + bytes(200000)' 'd + d[at[-1]:at[-1] + 100]' \
	'd + d[at[-1]:at[-1] + 100] + bytes(4000)'; do
	put ledger.jsonl "$form"
	ledger "incomplete $entries 0" "entries: $form"
	next "entries: $form"
	grep -q "^ledger gap " mine || fail "$form, then: $(grep ^ledger mine)"
done
# One that is gone was covered.
put ledger.jsonl 'd[:at[-1]] + bytes(len(d) - at[-1])'
ledger "truncated $((entries - 1)) $entries" "an entry of zeros"

# What only saves reading, in whatever state.
for file in ledger.tree ledger.seen; do
	for form in 'b""' 'd[:9]' 'bytes(len(d))' 'd[:len(d) // 2] + bytes(len(d) - len(d) // 2)'; do
		put $file "$form" 2>/dev/null || {
			rm -rf state
			cp -a good state
			head -c 100 /dev/zero >state/$file
		}
		expect 0 audit list
		has "$OUT" four
		ledger "intact $entries 0" "$file: $form"
		next "$file: $form"
		grep -q "^ledger intact " mine || fail "$file: $form: $(grep ^ledger mine)"
	done
done
