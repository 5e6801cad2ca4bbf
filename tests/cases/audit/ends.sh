#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each handle has its end in the trail once: in the record of its opening, or as a close.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/session.sh"

# session NAME [audit] LINE…: the work, and which ends the trail has
session() {
	name=$1
	shift
	{
		printf '[policy]\nversion = 1\nextends = medium\n[audit]\n'
		printf '%s\n' "$@"
	} >../policy
	recorded "$name" python3 work.py
	python3 "$WARD_SRC/tests/cases/audit/lib/ends-check.py" "../$name.jsonl"
}

for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "$i" >"f$i"
done
cp "$WARD_SRC/tests/cases/audit/lib/ends-work.py" work.py
session opens 'log = opens' >ends || fail "opens: $(cat ends)"
read -r in_openings closes openings written held <ends
[ "$openings" -eq 2001 ] || fail "openings: $(cat ends)"
[ $((in_openings + closes)) -eq 2001 ] || fail "ends: $(cat ends)"
# A writer that is never late would leave none: on no machine does it run as often as that.
[ "$in_openings" -gt 0 ] || fail "no opening has its end: $(cat ends)"
[ "$held" = close ] || fail "the handle that was held: $(cat ends)"
[ "$written" -eq 100 ] || fail "files that were written to: $(cat ends)"
# Control: what happens between opening and end has records of its own, or is on disk first.
for line in 'log = io' 'sync = record'; do
	rm -f new* made
	session "${line%% *}" "$line" >ends || fail "$line: $(cat ends)"
	read -r in_openings closes openings written held <ends
	[ "$in_openings $closes $written" = '0 2001 100' ] || fail "$line: $(cat ends)"
done
