#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The index says what the trails say, follows them, recovers from damage, and no question can
# write to it.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# same WHAT: every record of every trail, and no other
same() {
	audit sql --json 'SELECT * FROM records ORDER BY session, seq' >rows.json 2>err ||
		grep -q 'left out .* missing or damaged' err || fail "$1: sql: $(cat err)"
	python3 "$WARD_SRC/tests/cases/audit/lib/index-same.py" "$STATE" || fail "$1: the index is not what the trails are"
}

hostile=$(printf "it's \"; DROP TABLE record; --\n\033[31m\377")
run --session one --events 21 --name "$hostile"
[ ! -e state/index.sqlite ] || fail "an index that nobody asked for"
audit index | grep -qx '1 session, 24 records, 24 of them new' || fail "index"
[ "$(stat -c %a state/index.sqlite)" = 600 ] || fail "mode of the index"
same "first"
audit index | grep -q ' 0 of them new' || fail "nothing was added"
run --session two --events 5
same "a second session"
audit sql "SELECT count(*) FROM records WHERE path = '/workspace/t0-3'" >out || fail "sql"
[ "$(sed -n 2p out)" = 2 ] || fail "$(cat out)"
# A question to all trails is in the ledger, with its text. Both verifiers accept such entries.
tail -1 state/ledger.jsonl | grep -q '"session":"host","kind":"question",.*"verb":"sql","question":"SELECT count(\*) FROM records WHERE path = .*"by":'"$(id -u)" ||
	fail "the ledger: $(tail -1 state/ledger.jsonl)"
agree "after a question"
cp state/ledger.jsonl ledger.kept
sed -i 's/SELECT count/SELECT  sum/' state/ledger.jsonl
audit verify --all >verdict && fail "a question was changed unseen"
grep -q 'ledger: edited' verdict || fail "a changed question: $(cat verdict)"
agree "a changed question"
cp ledger.kept state/ledger.jsonl
audit sql 'SELECT char(27) AS x' | LC_ALL=C grep -q "$(printf '\033')" && fail "a control character"

# A trail that is another one, one that is gone.
sed -i 's/t0-7/t0-x/' state/sessions/one/trail.jsonl
audit index --rebuild >out || fail "rebuild"
same "rebuilt"
rm -r state/sessions/one
run --session three --events 3
cp state/sessions/three/trail.jsonl kept
same "one is gone"
grep -q 'left out 1 session whose trail is missing or damaged: one (its trail is missing)' err || fail "$(cat err)"
rm -r state/sessions/three state/ledger.jsonl
run --session three --events 4
same "another one of the same name"

# Spoiled: made anew, by itself. Exchanged for a link: left alone.
sqlite() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect("state/index.sqlite", isolation_level=None)
db.executescript(sys.argv[1])' "$1"
}
sqlite 'UPDATE record SET path = NULL' || fail "control: the index can be changed"
audit sql 'SELECT count(*) FROM records WHERE path IS NOT NULL' | grep -qx 0 ||
	fail "control: the change was not made"
for what in 'DROP TABLE record' 'DROP TABLE session' 'DROP VIEW records' 'DROP INDEX record_path' \
	'CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END' \
	'ALTER TABLE record RENAME COLUMN path TO p' 'PRAGMA user_version = 1000'; do
	sqlite "$what" || fail "$what"
	same "$what"
done
for how in 'printf nonsense >state/index.sqlite' \
	'dd if=/dev/urandom of=state/index.sqlite bs=4k count=8 conv=notrunc status=none'; do
	sh -c "$how" || fail "$how"
	audit index --rebuild >/dev/null || fail "$how: rebuild"
	same "$how"
done
printf nonsense >state/index.sqlite
same "nonsense"
rm state/index.sqlite
echo untouched >elsewhere
ln -s "$PWD/elsewhere" state/index.sqlite
audit index >/dev/null 2>err && fail "through a symbolic link"
[ "$(cat elsewhere)" = untouched ] || fail "a file elsewhere was written"
rm state/index.sqlite
same "control: without the link"

# show, file and process say the same from the index as from all lines: where it is up to date and
# where the trail has grown since.
cp "$WARD_SRC/tests/cases/audit/lib/index-session.py" session.py
mkdir state/sessions/made
trail=state/sessions/made/trail.jsonl
python3 session.py 1 400 >$trail
audit index >/dev/null || fail "index"
# asked VERB ARGS...: both ways; what was found is in ./indexed. PATH and PID stand behind the
# options.
asked() {
	with=0
	audit "$@" made >indexed 2>err || with=$?
	rc=0
	audit "$@" made --no-index >whole 2>/dev/null || rc=$?
	[ $rc -eq $with ] && [ $with -lt 2 ] || fail "$*: exit $with with the index: $(cat err)"
	cmp -s indexed whole || fail "$*: the index leads to other records: $(diff indexed whole | head -n 3)"
}
all_asked() {
	for p in /w /w/ / /w/a /w/a/ /w/d '/w/*e' '/w/[x]' "/w/it's" /nosuch; do
		asked show --json --path "$p"
		asked file --json "$p"
		asked file --json --verdict allow --comm dog "$p"
	done
	asked show --json --kind rename
	asked show --json --verdict deny --comm cat
	asked show --json --rule p:1 --since 2026-01-02T03:04:20 --until 2026-01-02T03:04:41
	asked show --json --until 2026-01-02T03:04:4 --path /w/c
	asked process --json 3
	asked process --json --kind open --comm dog 3
	asked process --json 4
	asked show --json
	# Every question takes every filter.
	set -f
	for f in '--kind deny' '--verdict allow' '--path /w/a' '--rule p:1' '--comm cat' '--exe gcc' '--exe /usr/bin/d*' \
		'--pid 3' '--pid 3 --descendants' '--pid 2 --kind open --comm dog' '--since 2026-01-02T03:04:20' \
		'--until 2026-01-02T03:04:41' '--comm dog --since 2026-01-02T03:04:20 --until 2026-01-02T03:04:41' \
		'--path /w --kind rename' '--path /w/b --kind link' '--kind open --since 2025 --until 2027' \
		'--verdict allow --until 2025' '--path /w --exe make --verdict allow --since 2026'; do
		# shellcheck disable=SC2086 # words
		for v in show 'file /w/a' denials summary 'diff two'; do
			asked ${v%% *} --json $f ${v#"${v%% *}"}
		done
		# shellcheck disable=SC2086
		listed $f
	done
	set +f
	asked process --json --descendants --exe ld 3
}
# listed FILTER...: the same of all sessions, and as many as show has
listed() {
	audit list --json "$@" >indexed 2>/dev/null || fail "list $*"
	audit list --json --no-index "$@" >whole 2>/dev/null || fail "list --no-index $*"
	cmp -s indexed whole || fail "list $*: the index counts otherwise"
	n=$(audit show --json "$@" made 2>/dev/null | wc -l)
	python3 - "$n" <<'END' || fail "list $*: not the $n of show: $(cat indexed)"
import json, sys
have = [s["matching"] for s in json.load(open("indexed")) if s["session"] == "made"]
assert have == ([int(sys.argv[1])] if int(sys.argv[1]) else []), have
END
}
all_asked
asked show --json --pid 3 --descendants
[ "$(wc -l <indexed)" -gt 100 ] || fail "few descendants: this proves less than it should"
asked show --json --exe gcc
[ "$(wc -l <indexed)" -gt 20 ] || fail "few of a program: this proves less than it should"
asked file --json /w/a
grep -q 'this file also had the name /w/c' err || fail "its other names: $(cat err)"
[ -z "$(sort err | uniq -d)" ] || fail "a name is told twice: $(sort err | uniq -d)"
[ "$(wc -l <indexed)" -gt 100 ] || fail "few records: this proves less than it should"
python3 session.py 401 500 >>$trail
all_asked
# It was the index that answered: it leads nowhere any more where its rows are gone.
audit index >/dev/null
sqlite "DELETE FROM record WHERE path = (SELECT id FROM word WHERE text = '/w/ab')" || fail "control: the index can be changed"
audit show --path /w/ab made >indexed 2>/dev/null || : # no mac of it is good
[ -s indexed ] && fail "the index was not asked"
audit show --no-index --path /w/ab made >whole 2>/dev/null || :
[ -s whole ] || fail "control: --no-index looks at all lines"
# The printed lines are those of the trail. The index of another trail, one with lines that are no
# record, and one of another schema are not asked.
audit index --rebuild >/dev/null
sqlite "UPDATE record SET verdict = (SELECT id FROM word WHERE text = 'deny'), pid = 77"
asked show --json --path /w/c
audit index --rebuild >/dev/null
python3 session.py 1 300 | sed 's,/w/c",/w/C",' >$trail
asked show --json --path /w/C
[ -s indexed ] || fail "the other trail"
{ python3 session.py 1 50 && echo garbage && python3 session.py 51 90; } >$trail
audit index --rebuild >/dev/null
asked show --json --kind open
grep -q garbage indexed || fail "a line that is no record is shown"
python3 session.py 1 300 >$trail
audit index --rebuild >/dev/null
sqlite 'DROP INDEX record_path'
asked show --json --path /w/c
sqlite 'PRAGMA user_version = 1'
asked show --json --path /w/c
printf nonsense >state/index.sqlite
asked show --json --path /w/c
# Records found by the index were not verified, and the output says so; --verify verifies them.
# Control: the same trail as it was written.
run --session real --events 50
run --session many --events 12000
[ "$(stat -c %s state/sessions/many/trail.jsonl)" -gt 4194304 ] || fail "control: that trail is not long"
audit index --rebuild >/dev/null
audit show --kind open --path /workspace/t0-3 real >shown 2>said
[ -s shown ] && [ ! -s said ] || fail "a short trail was not verified: $(cat said)"
audit show --kind open --path /workspace/t0-3 many >shown 2>said
[ -s shown ] && grep -q 'found by the index, which proves nothing' said || fail "not said: $(cat said)"
audit show --verify --kind open --path /workspace/t0-3 many >shown 2>said
[ -s shown ] && [ ! -s said ] || fail "control: $(cat said)"
# As long as before, so that the index does not see it.
for of in real many; do
	sed -i '5s/"comm":"cat"/"comm":"cut"/' state/sessions/$of/trail.jsonl
	grep -q '"comm":"cut"' state/sessions/$of/trail.jsonl || fail "control: nothing was edited"
	audit show --verify --kind open $of >shown 2>said && fail "$of: exit 0 of a changed trail"
	grep -q 'not intact: edited' said || fail "--verify: $(cat said)"
	audit show --no-index --kind open $of >shown 2>said && fail "$of: exit 0 of a changed trail"
	grep -q 'not intact: edited' said || fail "--no-index: $(cat said)"
done
audit show --kind open --path /workspace/t0-3 many >shown 2>said
grep -q 'intact' said && ! grep -q 'not intact' said && fail "it says intact: $(cat said)"
audit show --kind open real >shown 2>said && fail "exit 0 of a changed trail"
grep -q 'not intact: edited' said || fail "a short trail: $(cat said)"
rc=0
audit list --verify >/dev/null 2>&1 || rc=$?
[ $rc -eq 2 ] || fail "usage of list --verify"
rc=0
audit verify --no-index >/dev/null 2>&1 || rc=$?
[ $rc -eq 2 ] || fail "usage of verify --no-index"
rc=0
audit denials --proof >/dev/null 2>&1 || rc=$?
[ $rc -eq 2 ] || fail "usage of denials --proof"
rm -r state/sessions/made state/sessions/real state/sessions/many

# Questions only.
for q in 'DELETE FROM record' 'DROP TABLE record' 'INSERT INTO session VALUES(9,9,9,9,9)' \
	"ATTACH '$PWD/elsewhere' AS x" 'PRAGMA user_version = 7' "SELECT 1; DELETE FROM record" \
	"SELECT writefile('x', 'y')" "SELECT load_extension('x')" 'VACUUM' 'nonsense' ''; do
	audit sql "$q" >/dev/null 2>err && fail "answered: $q"
	[ -s err ] || fail "says nothing to: $q"
done
[ "$(cat elsewhere)" = untouched ] || fail "a file elsewhere was written"
same "after the questions"

# At most 80 bytes a record, with what the page of a database wastes.
rm -f state/index.sqlite
mkdir state/sessions/large
python3 session.py 1 20000 >state/sessions/large/trail.jsonl
audit index >out || fail "large: $(cat out)"
size=$(stat -c %s state/index.sqlite)
[ "$size" -lt $((20000 * 80)) ] || fail "$size bytes for 20000 records"
# Over all sessions it counts by itself what it can, as all lines do (--no-index).
for f in '--kind deny' '--verdict deny --comm cat' '--path /w/c' '--rule p:1' '--since 2026-01-02T03:04:3' \
	'--until 2026-01-02T03:04:4' '--until 2026-01-02T2' '--path /w/*e' '--kind connect'; do
	set -f
	# shellcheck disable=SC2086 # words
	audit list --json $f >indexed 2>err || fail "list $f: $(cat err)"
	case $f in
	*T2 | *'*'*) ;;
	*) grep -q 'counted by the index' err || fail "list $f: every line was read" ;;
	esac
	# shellcheck disable=SC2086 # words
	audit list --json --no-index $f >whole 2>/dev/null
	set +f
	cmp -s indexed whole || fail "list $f: the index counts otherwise"
done
# It is made again for the next question, and follows what was changed behind its back.
rm state/index.sqlite
audit list --kind deny >again 2>err || fail "without an index"
[ -e state/index.sqlite ] && grep -q 'counted by the index' err || fail "it was not made again: $(cat err)"
sed -i '17d' state/sessions/large/trail.jsonl
audit list --json --kind deny >indexed 2>/dev/null
audit list --json --no-index --kind deny >whole 2>/dev/null
cmp -s indexed whole || fail "a changed trail: the index counts otherwise"

[ "$(id -u)" -eq 0 ] || skip "the rest needs root"
# A long session comes into it without being asked, soon after its end; a short one with the next
# question.
export XDG_STATE_HOME="$PWD/xdg"
mkdir work
(cd work && git init -q . && "$WARDFS" run --session short -- sh -c 'echo x >f; cat f') >/dev/null || fail "run"
(cd work && "$WARDFS" run --session long -- sh -c 'i=0; while [ $i -lt 4000 ]; do echo x >f$i; i=$((i + 1)); done') ||
	fail "run: long"
[ "$(stat -c %s xdg/wardfs/sessions/long/trail.jsonl)" -gt 1048576 ] || fail "control: that trail is not long"
# indexed NAME: as many records as the trail has lines
indexed() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect("file:xdg/wardfs/index.sqlite?mode=ro", uri=True)
n, = db.execute("SELECT count(*) FROM records WHERE session = ?", (sys.argv[1],)).fetchone()
sys.exit(n != sum(1 for _ in open(f"xdg/wardfs/sessions/{sys.argv[1]}/trail.jsonl")))' "$1" 2>/dev/null
}
# It is made with the lowest priority, so beside busy neighbours it takes what they leave.
wait_until 400 indexed long || fail "a long session does not come into the index"
"$WARDFS" audit list --kind open >/dev/null 2>&1 || fail "list --kind"
indexed short || fail "a question did not bring the index up to date"
