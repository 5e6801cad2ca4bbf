#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A listing takes old sessions from the index if the ledger shows that wardfs changed nothing
# since. It prints the same as the trails and names what is missing. It reads the trail again when
# the ledger has news about it, is another ledger, or does not contain it.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# begun N: the detail of session.start
begun() {
	printf '{"mode":"restricted","project":"/srv/owner/p%s","argv":["make","it'"'"'s","%s"],' "$1" "$1"
	printf '"login_uid":7%s,"audit_session":%s,"labels":{"ticket":"A-%s","for":"all"}}' "$1" "$1" "$1"
}
# same WHAT [OPTION…]: listed alike with the index and without
same() {
	what=$1
	shift
	for how in indexed whole; do
		no=
		[ $how = indexed ] || no=--no-index
		# shellcheck disable=SC2086
		audit list --json $no "$@" >$how 2>$how.err || grep -q 'left out .* missing or damaged' $how.err ||
			fail "$what: $(cat $how.err)"
	done
	cmp -s indexed whole || fail "$what, $*: $(diff indexed whole | head -n 8)"
}
all_same() {
	same "$1"
	same "$1" --label ticket=A-2
	same "$1" --label for=all --label ticket=A-3
	same "$1" --label ticket=none
	same "$1" --login 72
	same "$1" --audit-session 3
	same "$1" --kind deny
	same "$1" --kind connect
	same "$1" --label ticket=A-1 --kind deny
}
sqlite() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect("state/index.sqlite", isolation_level=None)
db.executescript(sys.argv[1])' "$1"
}
# listed NAME: its mode, as listed
listed() {
	audit list --json >now 2>/dev/null
	python3 -c 'import json, sys
print([s["mode"] for s in json.load(open("now")) if s["session"] == sys.argv[1]])' "$1"
}
# The index numbers sessions. Up to 4096, a list looks at the files of each trail; beyond, it does
# not.
number() { # BY
	for column in record.session net.session tally.session label.session about.session session.id; do
		sqlite "UPDATE ${column%.*} SET ${column#*.} = ${column#*.} + $1"
	done
}
many() {
	top=$(python3 -c 'import sqlite3
print(sqlite3.connect("state/index.sqlite").execute("SELECT max(id) FROM session").fetchone()[0])')
	[ "$top" -gt 4096 ] || number 5000
}
few() {
	number -5000
}
# The index says something else than the trail, so that one sees who answered.
lie() {
	[ "${few:-}" ] || many
	sqlite "INSERT OR IGNORE INTO word(text) VALUES('$2'); UPDATE about SET mode = (SELECT id FROM word WHERE
		text = '$2') WHERE session = (SELECT id FROM session WHERE name = '$1')"
}
# believed NAME, not_believed NAME: is it the index that answers?
believed() {
	lie "$1" lie
	[ "$(listed "$1")" = "['lie']" ] || fail "$1: not from the index: $(listed "$1")"
	lie "$1" restricted
}
not_believed() {
	lie "$1" lie
	[ "$(listed "$1")" = "['restricted']" ] || fail "$1: from the index: $(listed "$1")"
	lie "$1" restricted
}

for n in 1 2 3; do
	run --session s$n --events 4$n --start "$(begun $n)"
done
all_same "no index"
[ ! -e state/index.sqlite ] || rm state/index.sqlite
audit list >/dev/null
[ ! -e state/index.sqlite ] || fail "a listing without a filter made an index"
audit index >/dev/null
all_same "all are indexed"
grep -q '"argv"\|"command":\["make"' indexed || same "commands"
believed s2

echo "--- what is new"
run --session s4 --events 5 --start "$(begun 4)"
all_same "one that is in no index yet"
believed s2
believed s4
run --session died --events 5 --die --start "$(begun 5)"
wait_until 60 grep -q '"session":"died","kind":"end"' state/ledger.jsonl || fail "no end of died"
all_same "one whose supervisor died"
believed died
mkfifo go
"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$STATE" --session runs \
	--events 5 --hold --start "$(begun 5)" <go >held 2>&1 &
held=$!
exec 9>go
wait_until 60 grep -q '"kind":"open"' state/sessions/runs/trail.jsonl || fail "it does not run: $(cat held)"
all_same "one that runs"
# Another time of a file is what tells of one that runs. Nobody looks at it where the end is known.
audit index >/dev/null
touch state/sessions/runs/trail.jsonl state/sessions/s2/trail.jsonl
not_believed runs
believed s2
exec 9>&-
wait $held || fail "$(cat held)"
all_same "it has ended"
believed runs
audit hold --reason why s2 >/dev/null || fail hold
all_same "on hold"
believed s2
audit release --reason over s2 >/dev/null || fail release

echo "--- few sessions: each trail is looked at"
few=1
few
believed s4
touch state/sessions/s4/trail.jsonl
not_believed s4
mv state/sessions/s2/trail.jsonl kept
audit list --kind deny >now 2>err || fail "list: a missing trail"
grep -q '1 session without a trail any more' err || fail "a missing trail: $(cat err)"
mv kept state/sessions/s2/trail.jsonl
audit index >/dev/null
few=
believed s4

echo "--- what is gone"
audit remove --force --reason over s1 >/dev/null || fail remove
all_same "removed"
mv state/sessions/s3 elsewhere
all_same "taken away"
audit list | grep '^s3 ' | grep -q 'trail missing' || fail "it is not told that a trail is missing"
mv elsewhere state/sessions/s3
all_same "brought back"
run --session s1 --events 9 --start "$(begun 6)"
all_same "another one asks for the name"
believed s1.2
mkdir state/sessions/made
cp state/sessions/s4/trail.jsonl state/sessions/made/
all_same "one that the ledger does not know"

echo "--- what somebody else changed: read again with --no-index, found by verify"
cp state/sessions/s4/trail.jsonl kept
many
sed -i 's/"mode":"restricted"/"mode":"no-mode-it"/' state/sessions/s4/trail.jsonl
[ "$(listed s4)" = "['restricted']" ] || fail "control: the index does not answer"
few
[ "$(listed s4)" = "['no-mode-it']" ] || fail "few sessions: the trail was not read"
audit list --json --no-index >now 2>/dev/null
grep -q no-mode-it now || fail "--no-index does not read the trail"
expect 1 audit verify s4
cat kept >state/sessions/s4/trail.jsonl

echo "--- a ledger that is not the one that was followed"
for how in 'cp state/ledger.jsonl l && rm state/ledger.jsonl && cp l state/ledger.jsonl' \
	'head -n 6 state/ledger.jsonl >l && cat l >state/ledger.jsonl' \
	'echo rubbish >>state/ledger.jsonl' ': >state/ledger.jsonl' 'rm state/ledger.jsonl'; do
	cp -a state good
	believed s2
	lie s2 lie
	sh -c "$how"
	# The stamp is as it was: what is not believed is that nobody has to look.
	touch state/sessions/s2/trail.jsonl
	audit list --json --kind deny >now 2>/dev/null || fail "$how"
	python3 -c 'import json
got = [s["mode"] for s in json.load(open("now")) if s["session"] == "s2"]
assert got == ["restricted"], got' || fail "$how"
	rm -r state
	mv good state
	# Inodes are kept by mv, and the copy is another directory: all is looked at once more.
	audit index >/dev/null
done

echo "--- a state of the index that somebody else wrote"
for what in "UPDATE today SET ledger = 'x'" "UPDATE today SET ledger = ''" "DELETE FROM today" \
	"UPDATE today SET names = 'x'" "UPDATE today SET ledger = '0 0 99999999999999999999 0'" \
	"UPDATE session SET settled = 0" "UPDATE session SET settled = 99" "DELETE FROM session" \
	"UPDATE session SET name = name || 'x'"; do
	sqlite "$what"
	audit index >/dev/null || fail "$what"
	same "$what"
	audit index --rebuild >/dev/null || fail "$what: rebuild"
	all_same "$what"
done

echo "--- guarantees: the same answers, from one connection"
audit guarantees --json --since 1h >with 2>/dev/null || [ $? -eq 1 ]
rm state/index.sqlite
audit guarantees --json --since 1h >without 2>/dev/null || [ $? -eq 1 ]
cmp -s with without || fail "$(diff with without)"
