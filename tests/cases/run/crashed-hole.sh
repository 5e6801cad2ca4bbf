#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A host crash left a hole in a trail, and the next start ends that trail. The new records
# continue the numbers, so everything behind the hole verifies with both verifiers. A second hole
# later changes nothing about that.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
project p
cd p || exit 1
STATE=${XDG_STATE_HOME:-}/wardfs
[ -d "${XDG_STATE_HOME:-}" ] || fail "the suite gives no state directory"
printf '[policy]\nversion = 1\nextends = medium\n[audit]\ncheckpoint = 50\nrotate = 256M\n' >../policy
WORK='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); : >"f$i" && echo "f$i"; done; exec sleep 600'

# hole NAME AT...: a session at work is killed as by a stop of the host, with a page of zeros at
# each place
hole() {
	name=$1
	shift
	trail=$STATE/sessions/$name/trail.jsonl
	rm -f f* ../told
	"$WARDFS" run --policy ../policy --session "$name" -- sh -c "$WORK" >../told 2>../err &
	sup=$!
	wait_until 120 grep -q f300 ../told || fail "$name: not started: $(cat ../err)"
	audit=$(status_of "$name" audit_pid)
	[ -n "$audit" ] || fail "ps does not know $name"
	kill -STOP "$sup" "$audit"
	kill -9 "$sup" "$audit"
	expect 137 wait "$sup"
	wait_until 60 gone "$audit" || fail "$name: the writer is left"
	[ "$(stat -c %s "$trail")" -gt 60000 ] || fail "$name: too small for what follows"
	last=$(grep '"mac":"[0-9a-f]*"}$' "$trail" | tail -n 1 | sed 's/.*"seq":\([0-9]*\),.*/\1/')
	for at; do
		dd if=/dev/zero of="$trail" bs=4096 count=1 seek="$at" conv=notrunc status=none
	done
	sed -i 's/ [0-9a-f]*-/ 00000000-/' "$STATE/running/$name"
	"$WARDFS" run --session "after-$name" -- true 2>../err || fail "after: $(cat ../err)"
	[ ! -e "$STATE/running/$name" ] || fail "$name: its mark is left"
}

# numbers NAME BAD: the first wrong line is BAD; no number is there twice, none of the new writer's
# is lower than the last one before; and the ledger has the last
numbers() {
	python3 "$WARD_SRC/tests/cases/run/lib/crashed-hole-numbers.py" "$STATE/sessions/$1/trail.jsonl" "$STATE/ledger.jsonl" "$1" "$2" "$last" || fail "$1: the numbers"
}

hole one 8
rc=0
audit_out=$("$WARDFS" audit verify one) || rc=$?
[ $rc -eq 1 ] || fail "one: $audit_out"
trail=$STATE/sessions/one/trail.jsonl
line=$(($(head -c 32768 "$trail" | wc -l) + 1))
behind=$(($(wc -l <"$trail") - line))
[ "$behind" -gt 50 ] || fail "only $behind lines behind the hole"
has "$audit_out" "one: edited at record $line: line $line is not one that the writer writes: 4096 bytes of zeros"
# All but the first, whose predecessor is lost.
has "$audit_out" "; $((behind - 1)) of the lines behind it verify"
numbers one "$line"
vkey=$("$WARDFS" audit key show)
agree "a hole"
agree_public "a hole" "$vkey" one

# Two: behind each the first line is one that nothing proves.
hole two 6 10
rc=0
audit_out=$("$WARDFS" audit verify two) || rc=$?
[ $rc -eq 1 ] || fail "two: $audit_out"
trail=$STATE/sessions/two/trail.jsonl
line=$(($(head -c 24576 "$trail" | wc -l) + 1))
behind=$(($(wc -l <"$trail") - line))
has "$audit_out" "two: edited at record $line: "
has "$audit_out" "; $((behind - 3)) of the lines behind it verify"
numbers two "$line"
agree "two holes"
agree_public "two holes" "$vkey" two

# Control: the same without a hole has no number without a record.
hole none
gaps=$("$WARDFS" audit show --json --kind gap none 2>../err)
has "$gaps" '"text":"recovery: '
hasnt "$gaps" 'have no record'
agree "no hole"
exit 0
