#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `review undo --dry-run` over several applies says of each change what the undo does then, when the
# later applies are undone. The control is the undo itself, and conflicts that stay.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

# both N: N are undone, by a dry run and then.
both() {
	now=$(whole)
	expect 0 "$WARDFS" review undo --dry-run
	has "$OUT" "$1 would be undone, 0 would not"
	[ "$(whole)" = "$now" ] || fail "a dry run changed something"
	expect 0 "$WARDFS" review undo
	has "$OUT" "$1 undone, 0 not"
	[ "$(whole)" = "$before" ] || fail "undo: $(whole)"
}
begin() {
	fresh
	before=$(whole)
}

echo "--- a directory, and then what is in it"
begin
expect 0 "$WARDFS" run --review -s one -- sh -euc 'mkdir -p made/in; echo x >made/in/new'
expect 0 "$WARDFS" review apply made
expect 0 "$WARDFS" review apply
both 3

echo "--- a part of a file, and then the rest"
begin
seq 40 >long
own
before=$(whole)
expect 0 "$WARDFS" run --review -s two -- sed -i 's/^[35]$/& new/; s/^3[05]$/& new/' long
printf 'y\nn\n' | expect 0 "$WARDFS" review apply --interactive
[ "$(grep -c new long)" = 2 ] || fail "control: a part: $(cat long)"
expect 0 "$WARDFS" review apply
[ "$(grep -c new long)" = 4 ] || fail "control: the rest: $(cat long)"
both 2

echo "--- a name that goes, and then another file of this name"
begin
expect 0 "$WARDFS" run --review -s three -- sh -euc 'rm changed; mkdir changed; echo x >changed/new; mv renamed moved; mv d renamed'
expect 0 "$WARDFS" review apply moved
expect 1 "$WARDFS" review apply changed/new
expect 0 "$WARDFS" review apply
both 5

echo "--- what the host has changed stays a conflict, in both"
begin
expect 0 "$WARDFS" run --review -s four -- sh -euc 'mkdir made; echo x >made/new; echo new >changed'
expect 0 "$WARDFS" review apply made changed
expect 0 "$WARDFS" review apply
echo host >made/host
echo host >changed
expect 1 "$WARDFS" review undo --dry-run
has "$ERR" "changed: not undone"
has "$ERR" "made: not undone"
has "$OUT" "1 would be undone, 2 would not"
expect 1 "$WARDFS" review undo
has "$OUT" "1 undone, 2 not"
