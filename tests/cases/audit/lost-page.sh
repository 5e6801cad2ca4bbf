#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A trail contains a block of zeros, as a crashed host can leave one and anybody can write one.
# Both verifiers say edited, with the public key alone too. They name the place and verify the
# rest.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# zeros FILE AT SIZE [OTHER]: overwrites; OTHER: with that byte
zeros() {
	python3 - "$@" <<'END'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    f.write(bytes([int(sys.argv[4]) if sys.argv[4:] else 0]) * int(sys.argv[3]))
END
}

# line_at FILE AT: number of the line in which the byte stands
line_at() {
	echo $(($(head -c "$2" "$1" | wc -l) + 1))
}

# told SESSION [ARG…]: exit 1, edited; the words are in $text, the rest in $first and $good
told() {
	rc=0
	audit verify --json "$@" >told.json || rc=$?
	[ $rc -eq 1 ] || fail "$1: $(cat told.json)"
	text=$(python3 -c 'import json, sys
r = json.load(open("told.json"))[0]
# zeros between the head of a line and the mac of a later one can look like a line: no mac tells
assert r["state"] == "edited" or sys.argv[1:] and r["state"] == "deleted", r
print(r["text"])' ${2:+public}) || fail "$1"
	first=$(python3 -c 'import json; print(json.load(open("told.json"))[0]["first_bad"])')
}

run --session one --events 300 --checkpoint 50
run --session two --events 400 --sync record --rotate 16000
vkey=$(audit key show)
cp -a state good
trail=state/sessions/one/trail.jsonl
size=$(stat -c %s $trail)
[ "$size" -gt 90000 ] || fail "too small for what follows: $size"

# One page in the middle, and one sector; each with the control that is no block of zeros.
for n in 4096 512; do
	at=$((size / 2 / 4096 * 4096))
	line=$(line_at $trail $at)
	zeros $trail $at $n
	told one
	[ "$first" -eq "$line" ] || fail "$n zeros: first bad $first, not $line"
	case $text in
	"line $line is not one that the writer writes: $n bytes of zeros at byte $at of trail.jsonl, "*) ;;
	*) fail "$n zeros: $text" ;;
	esac
	# All behind it but the first, whose predecessor is lost.
	behind=$(($(wc -l <$trail) - line))
	case $text in
	*"; $((behind - 1)) of the lines behind it verify") ;;
	*) fail "$n zeros, $behind lines behind: $text" ;;
	esac
	agree "$n zeros"
	told "$PWD/$trail" --key "$vkey"
	case $text in
	*"line $line is not one "*": $n bytes of zeros at byte $at of trail.jsonl, "*) ;;
	*) fail "$n zeros, public: $text" ;;
	esac
	agree_public "$n zeros" "$vkey" one
	zeros $trail $at $n 120
	told one
	case $text in
	*zeros*) fail "$n other bytes: $text" ;;
	esac
	agree "$n other bytes"
	cp good/sessions/one/trail.jsonl $trail
done
zeros $trail 40000 100
told one
case $text in
*zeros*) fail "100 zeros are no lost block: $text" ;;
esac

cp good/sessions/one/trail.jsonl $trail
# More than a line can hold; with an edit in what is left behind it that is not excused.
python3 - $trail <<'END'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(data[:40960] + bytes(300000) + data[49152:])
END
told one
case $text in
*": 300000 bytes of zeros at byte 40960 of trail.jsonl, "*) ;;
*) fail "many zeros: $text" ;;
esac
agree "many zeros"
cp good/sessions/one/trail.jsonl $trail
zeros $trail 40960 4096
before=$(audit verify one | sed 's/.*; \([0-9]*\) of the lines.*/\1/')
sed -i '250s/workspace/workspaxe/' $trail
after=$(audit verify one | sed 's/.*; \([0-9]*\) of the lines.*/\1/')
[ "$after" -eq $((before - 1)) ] || fail "an edit behind zeros: $before, then $after"
agree "zeros and an edit"

# In a later segment: named as it is called, with the offset in it.
at=4096
segment=$(find state/sessions/two -name 'trail.*.jsonl' -size +10k | head -n 1)
[ -n "$segment" ] || fail "no second segment: $(ls -l state/sessions/two)"
zeros "$segment" $at 4096
told two
case $text in
*": 4096 bytes of zeros at byte $at of ${segment##*/}, "*) ;;
*) fail "a segment: $text" ;;
esac
agree "zeros in a segment"

# The ledger, too.
rm -rf state
cp -a good state
python3 - <<'END'
data = open("state/ledger.jsonl", "rb").read()
open("state/ledger.jsonl", "wb").write(data[:300] + bytes(600) + data[300:])
END
audit verify --all >verdict && fail "zeros in the ledger: $(cat verdict)"
grep -q '^ledger: edited at record 1: line 1 .*: 600 bytes of zeros at byte 300, ' verdict || fail "$(cat verdict)"
agree "zeros in the ledger"
