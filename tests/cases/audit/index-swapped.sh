#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An index is an SQLite database. A journal planted beside one makes SQLite delete a file of the
# attacker's choice. So root opens no index in another user's directory, even if that user swaps
# the directory for a link meanwhile. A pipe in the place of an index blocks nobody.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: another user's directory"
tries=${SWAPS:-150}

journal() {
	echo precious >"$WARD_TMP/victim"
	python3 "$WARD_SRC/tests/cases/audit/lib/index-swapped-journal.py" "$1" "$WARD_TMP/victim"
}

run --session one --events 5
audit index >out || fail "index"

echo "--- control: in one's own directory SQLite does what the journal says"
journal state/index.sqlite
audit sql 'SELECT 1' >out || fail "sql: $(cat out)"
[ ! -e victim ] || fail "control: the journal deletes nothing"

echo "--- a pipe in the place of an index: nobody waits for it"
mv state/index.sqlite kept
mkfifo state/index.sqlite
for verb in 'show one' list 'denials one'; do
	# shellcheck disable=SC2086 # words
	timeout 120 "$WARDFS" audit $verb --kind session.start --state "$STATE" >out 2>err || [ $? -ne 124 ] ||
		fail "audit $verb waits for a pipe"
done
rm state/index.sqlite
mv kept state/index.sqlite

echo "--- another user's: it is not opened"
mkdir theirs root
cp -a state theirs/state
ln -s "$WARD_TMP/root" theirs/link
journal theirs/state/index.sqlite
chown -hR 4711:4711 theirs
chmod 755 "$WARD_TMP"
refused "belongs to another user, and only that user can make its index" \
	"$WARDFS" audit index --state "$WARD_TMP/theirs/state"
expect 0 "$WARDFS" audit show one --kind session.start --state "$WARD_TMP/theirs/state"
has "$OUT" session.start
[ -e victim ] || fail "a file was deleted"

echo "--- nor while they exchange it for a link to a directory of root's"
setpriv --reuid=4711 --regid=4711 --clear-groups \
	python3 "$WARD_SRC/tests/cases/audit/lib/index-swapped-exchange.py" \
	"$WARD_TMP/theirs/state" "$WARD_TMP/theirs/link" >swapping &
swapper=$!
trap 'kill $swapper 2>/dev/null || :' EXIT
wait_until 60 grep -q begins swapping || fail "nothing is exchanged"
n=0
while [ "$n" -lt "$tries" ]; do
	n=$((n + 1))
	"$WARDFS" audit index --state "$WARD_TMP/theirs/state" >out 2>err || [ $? -eq 125 ] || fail "$(cat err)"
	[ -e victim ] || fail "a file of root's was deleted, in try $n"
	[ -z "$(ls root)" ] || fail "in a directory of root's there is now, after try $n: $(ls root)"
done
kill -0 $swapper || fail "control: nobody exchanged anything"
kill $swapper
