#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A list for a person has the newest 100 sessions and says how many more there are. The columns of
# each session are the same as in the list of all, also where later entries are about older
# sessions. A warning about one trail reads what the ledger has of that session, and finds the same.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

"$WARD_BUILD/tests/support/manysessions" "$STATE" 230
# rows FROM: the default list has the last rows of all, beginning with session FROM
rows() {
	expect 0 audit list --limit all
	printf "%s\n" "$OUT" >all
	[ -z "$ERR" ] || fail "all: $ERR"
	expect 0 audit list
	printf "%s\n" "$OUT" >newest
	has "$ERR" "$(($(wc -l <all) - 101)) older sessions are not listed: 'wardfs audit list --limit all'"
	{ head -n 1 all && tail -n 100 all; } | cmp - newest || fail "$1: $(diff all newest)"
	sed -n 2p newest | grep -q "^$1 " || fail "not from $1: $(sed -n 2p newest)"
}
# Without what an earlier listing kept; with it; with the index; without both.
rows s000130
[ -e state/ledger.seen ] || fail "nothing was kept"
rows s000130
audit index >/dev/null
rows s000130
cp all indexed
rm state/index.sqlite
rows s000130
cmp all indexed || fail "the index says something else"

echo "--- so many as are asked for, and what is always whole"
expect 0 audit list --limit 3
[ "$(echo "$OUT" | wc -l)" -eq 4 ] || fail "--limit 3: $OUT"
has "$ERR" "227 older sessions are not listed"
expect 0 audit list --limit 229
has "$ERR" "1 older session is not listed"
for n in 230 231 all; do
	expect 0 audit list --limit $n
	[ "$(echo "$OUT" | wc -l)" -eq 231 ] || fail "--limit $n: $OUT"
	[ -z "$ERR" ] || fail "--limit $n: $ERR"
done
expect 0 audit list --json --limit 3
[ "$(echo "$OUT" | grep -c '"session"')" -eq 230 ] || fail "--json is cut"
hasnt "$ERR" older
expect 0 audit list --kind open
[ "$(echo "$OUT" | wc -l)" -eq 231 ] || fail "a filter is cut"
hasnt "$ERR" older
for n in 0 -1 x 3x ""; do
	expect 2 audit list --limit "$n"
	has "$ERR" "--limit takes a number of sessions, or all"
done

echo "--- later entries about sessions that are not in the list"
rows s000130
audit hold --reason why s000003 >/dev/null || fail hold
audit remove --force --reason over s000004 >/dev/null || fail remove
expect 0 audit show s000005
rows s000130
grep -q "^s000003 .*on hold: why" all || fail "the hold is not listed"
grep -q "^s000004 .*removed .*over" all || fail "the removal is not listed"
run --session later --events 1
rows s000131
tail -n 1 newest | grep -q "^later " || fail "not the newest: $(tail -n 1 newest)"
# A name that is asked for again gets a number.
mv state/sessions/s000007 away
run --session s000007 --events 1
rows s000132
tail -n 1 newest | grep -q "^s000007.2 " || fail "not the newest: $(tail -n 1 newest)"
grep -q "^s000007 .*trail missing" all || fail "it is not told that a trail is missing"
mv away state/sessions/s000007
audit key rotate >/dev/null || fail rotate
rows "$(sed -n 2p newest | cut -d' ' -f1)"

echo "--- a filter takes of the ledger what matches by the index: the same answers as without it"
filtered() {
	for filter in "--kind deny" "--kind connect" "--kind open" "--label ticket=A-17" \
		"--label ticket=A-17 --kind deny" "--path /workspace/src/f3.c"; do
		# shellcheck disable=SC2086
		audit list $filter >with 2>err || fail "$1, $filter: $(cat err)"
		# shellcheck disable=SC2086
		audit list --no-index $filter >without 2>without.err || fail "$1, $filter: $(cat without.err)"
		cmp with without || fail "$1, $filter: $(diff with without)"
		hasnt "$(cat err)" older
		case $filter in
		*--label*) ;; # trails that are gone: the index does not know their labels
		*) [ "$(grep "without a trail" err)" = "$(grep "without a trail" without.err)" ] ;;
		esac || fail "$1, $filter: $(cat err without.err)"
	done
}
filtered "some are gone"
# The index numbers sessions. Beyond 4096 it answers alone, without a look at each trail.
python3 -c 'import sqlite3
db = sqlite3.connect("state/index.sqlite", isolation_level=None)
for place in "record.session net.session tally.session label.session about.session session.id".split():
    table, column = place.split(".")
    db.execute(f"UPDATE {table} SET {column} = {column} + 5000")'
sleep 1.1 # a directory that changed just now is read by name
audit index >/dev/null
filtered "many"
rows s000132
# One that the ledger does not know; and one that no index has.
cp -r state/sessions/s000020 state/sessions/unknown
filtered "an unknown trail"
rm -r state/sessions/unknown
run --session new --events 1
filtered "a new session"

echo "--- a warning about one trail; the control: one that is as it was"
expect 0 audit summary s000010
[ -z "$ERR" ] || fail "s000010: $ERR"
sed -i '3s/"comm":"cc"/"comm":"dd"/' state/sessions/s000011/trail.jsonl
expect 1 audit summary s000011
has "$ERR" "this trail is not intact: edited"
sed -i '$d' state/sessions/s000012/trail.jsonl
expect 1 audit summary s000012
has "$ERR" "this trail is not intact: truncated: 7 of 8 records"
expect 0 audit summary s000229
[ -z "$ERR" ] || fail "s000229: $ERR"

echo "--- a kept file that is another one's, or was changed, is not believed"
cp state/ledger.seen good
for at in 40 80 2000 30000; do
	cp good state/ledger.seen
	printf x | dd of=state/ledger.seen bs=1 seek=$at conv=notrunc 2>/dev/null
	cmp -s good state/ledger.seen && continue
	rows s000133
done
