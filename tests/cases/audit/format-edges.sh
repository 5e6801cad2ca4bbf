#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The limits in docs/audit-format.md, each tested from both sides: the longest line, the largest
# seq, a frame's descriptor bits and block bytes, a trail shorter than the ledger's checkpoint, an
# end without a start. Both verifiers agree.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session one --events 30 --checkpoint 10
run --session packed --events 400 --sync record --rotate 8000 --pack --checkpoint 10
vkey=$(audit key show)
cp -a state good
trail=state/sessions/one/trail.jsonl
edge() {
	how=$1
	shift
	python3 "$WARD_SRC/tests/cases/audit/lib/format-edges.py" "$how" state "$@" || fail "$how $*"
}
# is LINE WHAT: what both say, then all is as before. public LINE SESSION WHAT: with the key alone.
is() {
	agree "$2"
	grep -qx "$1" mine || fail "$2: not $1: $(cat mine)"
	rm -rf state
	cp -a good state
}
public() {
	agree_public "$3" "$vkey" "$2"
	grep -qx "$1" public || fail "$3, public: not $1: $(cat public)"
}

echo "--- lines"
edge without-end one
edge long one 131071
is "one incomplete 32 0" "a line of 131071 bytes"
edge without-end one
edge long one 131072
is "one edited 31 32" "a line of 131072 bytes"
edge open one
edge claim one 33
public "incomplete 10 0" one "control: the next seq"
rm -rf state
cp -a good state
edge open one
edge claim one 18446744073709551615
public "deleted 10 33" one "the largest seq"
rm -rf state
cp -a good state
edge open one
edge claim one 18446744073709551616
public "edited 10 33" one "a larger one"
rm -rf state
cp -a good state

echo "--- frames"
for bit in 0 1 2 3 4 5 6 7; do
	edge descriptor packed $bit
	said=edited
	[ $bit -ne 4 ] || said=intact
	is "packed $said [0-9]* [0-9]*" "bit $bit of the descriptor"
done
edge blocks packed 4194304
is "packed intact [0-9]* 0" "4194304 bytes of blocks"
edge blocks packed 4194307
is "packed edited 0 1" "three bytes more"

echo "--- fewer records than the ledger's checkpoint covers"
sed -i '21,$d' $trail
is "one truncated 20 21" "a cut end"
tr -d '\n' <$trail >last
size=$(wc -c <$trail)
head -c $((size - 1)) $trail >last
{ cat last && printf x; } >$trail
is "one edited 31 32" "the last newline is another byte"

echo "--- an end without its start"
sed -i '1s/"time":"2/"time":"3/' state/ledger.jsonl
is "one deleted 32 0" "a bad start and a good end"
