#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A trail in segments, some of them compressed, reads as one. Both verifiers notice a damaged
# segment and name it, with the root key and with a public one.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# files SESSION: its segments, sorted by number
files() {
	python3 - "$STATE/sessions/$1" "$WARD_SRC/tests/support" <<'EOP'
import sys
sys.path.insert(0, sys.argv[2])
sys.dont_write_bytecode = True
import os, segments
print(*(os.path.basename(p) for p in segments.segments(sys.argv[1])))
EOP
}

# text SESSION: the trail, put together by the second verifier
text() {
	python3 - "$STATE/sessions/$1/trail.jsonl" "$WARD_SRC/tests/support" <<'EOP'
import sys
sys.path.insert(0, sys.argv[2])
sys.dont_write_bytecode = True
import segments
sys.stdout.buffer.write(segments.read_trail(sys.argv[1]))
EOP
}

# Each record is on disk before the next comes, so the next segment is there in time: of so many
# records some segments at least, also where the one who makes them waits for a processor.
run --session whole --events 120 --sync record --checkpoint 7
run --session plain --events 180 --sync record --checkpoint 7 --rotate 8000
run --session packed --events 180 --sync record --checkpoint 7 --rotate 8000 --pack
run --session other --events 180 --sync record --checkpoint 7 --rotate 8000 --pack
vkey=$(audit key show)

[ "$(files whole)" = trail.jsonl ] || fail "without a bound: $(files whole)"
plain=$(files plain)
packed=$(files packed)
for name in plain packed; do
	# shellcheck disable=SC2046 # a list of names
	set -- $(files $name)
	[ $# -ge 4 ] || fail "$name: 180 records of some 450 bytes, and segments of 8000: $*"
done
last=$(($# + 0))
case $plain in
*.zst*) fail "compressed, and nobody asked: $plain" ;;
esac
case $packed in
"trail.jsonl.zst trail.2.jsonl.zst "*" trail.$last.jsonl") ;;
*) fail "not compressed, or the last one is: $packed" ;;
esac
zstd -tq "$STATE"/sessions/packed/*.zst || fail "the command zstd does not read them"
if ls "$STATE"/sessions/*/*.new 2>/dev/null; then
	fail "something half done was left"
fi
agree "untouched"
agree_public "untouched" "$vkey" whole plain
grep -v -e ' intact ' mine && fail "not intact"
for name in plain packed; do
	text $name >$name.text
	audit show --json $name >$name.shown || fail "show $name"
	cmp $name.text $name.shown || fail "show does not give what is there"
	[ "$(grep -c '"kind":"segment"' $name.shown)" -eq "$(($(files $name | wc -w) - 1))" ] ||
		fail "$name: a segment begins without its record"
	# every reader, across the boundaries
	[ "$(audit file --json /workspace/t0-31 $name | wc -l)" -eq 1 ] || fail "file, $name"
	[ "$(audit tail --json --lines 45 $name | wc -l)" -eq 45 ] || fail "tail, $name"
	tail -n 45 $name.text >want
	audit tail --json --lines 45 $name | cmp - want || fail "tail, $name: not the last ones"
	audit export $name >exported && cmp exported $name.text || fail "export, $name"
	audit summary --json $name >/dev/null || fail "summary, $name"
	audit denials --json $name >/dev/null || fail "denials, $name"
	audit report --force -o report.html $name || fail "report, $name"
	grep -q intact report.html || fail "report, $name: not intact"
	audit prove $name 31 >proof || fail "prove, $name"
	both --proof proof intact
	audit prove $name --file /workspace/t0-31 >proof || fail "prove --file, $name"
	both --proof proof intact
	audit prove $name --from 14 >proof || fail "prove --from, $name"
	both --proof proof intact
	audit attest --force -o statement $name || fail "attest, $name"
	both --attestation statement intact
	audit bundle --force -o bundle.tar $name || fail "bundle, $name"
	mkdir away
	tar -C away -xf bundle.tar
	first=$(echo away/$name/trail.jsonl*)
	HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --key ./away/$name/public.keys \
		"./$first" >said || fail "bundle, $name: $(cat said)"
	grep -q ': intact' said || fail "bundle, $name: $(cat said)"
	rm -r away
done
audit index >/dev/null || fail "index"
audit file --json /workspace/t0-31 packed >indexed
audit file --json --no-index /workspace/t0-31 packed | cmp - indexed || fail "file, indexed"
# Nothing moves in the index when a segment is compressed: the text is the same.
audit sql --json "SELECT count(*) AS n FROM records WHERE session = 'packed'" |
	grep -q "\"n\":$(wc -l <packed.text)" || fail "index: not all records"

# --- attacks: name what was done, and the first record that is not there or not right ---

cp -a state good
restore() {
	rm -rf state
	cp -a good state
}
# whoever compresses is killed at any moment: there is always one of both, and the next one does it
round=0
while [ $round -lt 4 ]; do
	rm -rf "$STATE/sessions/plain"
	cp -a good/sessions/plain "$STATE/sessions/plain"
	timeout -s KILL 0.0$((round * 9 + 10)) "$WARD_BUILD/wardfs" audit prune --state "$STATE" >/dev/null 2>&1 || :
	agree "killed, round $round"
	grep -q '^plain intact ' mine || fail "killed, round $round: $(grep '^plain ' mine)"
	round=$((round + 1))
done
audit prune >said || fail "prune behind killed ones: $(cat said)"
[ -z "$(find "$STATE/sessions/plain" -name '*.jsonl' -o -name '*.new')" ] ||
	fail "behind killed ones: $(ls "$STATE/sessions/plain")"
agree "compressed in the end"
grep -q '^plain intact ' mine || fail "compressed in the end: $(grep '^plain ' mine)"
restore

# The following tests are about one session: the others need not be looked at each time.
cp "$STATE/sessions/other/trail.2.jsonl.zst" other.zst
rm -r good/sessions/whole good/sessions/plain good/sessions/other
restore
D=$STATE/sessions/packed
# first SEGMENT-TEXT: seq of its first record
seq_of() {
	text_of "$1" | head -n 1 | sed 's/.*"seq":\([0-9]*\),.*/\1/'
}
text_of() {
	case $1 in
	*.zst) zstd -dcq "$1" ;;
	*) cat "$1" ;;
	esac
}
# verdict WHAT SESSION STATE [FIRST-BAD [PUBLIC-FIRST-BAD]]: by both verifiers
verdict() {
	agree "$1"
	grep -q "^$2 $3 [0-9]* ${4:-[0-9]*}\$" mine || fail "$1: $(grep "^$2 " mine), not $3 ${4:-}"
	audit verify --json --all --key "$vkey" >verify.json || [ $? -eq 1 ]
	python3 -c 'import json
for r in json.load(open("verify.json")):
    print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)' >mine
	python3 "$WARD_SRC/tests/support/verify.py" --key "$vkey" --all "$STATE" >theirs || [ $? -eq 1 ]
	diff mine theirs >&2 || fail "$1: the verifiers do not agree with a public key"
	grep -q "^$2 ${5:-$3} " mine || fail "$1, public: $(grep "^$2 " mine), not ${5:-$3}"
	restore
}

b2=$(seq_of "$D/trail.2.jsonl.zst")
b3=$(seq_of "$D/trail.3.jsonl.zst")
bl=$(seq_of "$D/trail.$last.jsonl")
# control: put together again as it was, and compressed again by somebody else
text_of "$D/trail.2.jsonl.zst" >two
zstd -dq --rm "$D/trail.3.jsonl.zst" -o "$D/trail.3.jsonl"
agree "control"
grep -q '^packed intact ' mine || fail "control: a plain segment for a compressed one: $(cat mine)"
zstd -q --content-size --check -19 -f two -o "$D/trail.2.jsonl.zst"
agree "control"
grep -q '^packed intact ' mine || fail "control: compressed by the command zstd: $(cat mine)"
restore

rm "$D/trail.2.jsonl.zst"
audit verify packed >said && fail "removed, and verified"
grep -q 'the file trail.2.jsonl is missing' said || fail "removed, and not said: $(cat said)"
verdict "a segment removed" packed deleted "$b2"
rm "$D/trail.jsonl.zst"
verdict "the first segment removed" packed deleted 1
rm "$D/trail.$last.jsonl"
verdict "the last segment removed" packed truncated "$bl"
rm "$D"/trail*
verdict "all segments removed" packed missing 0 missing
mv "$D/trail.2.jsonl.zst" x && mv "$D/trail.3.jsonl.zst" "$D/trail.2.jsonl.zst" &&
	mv x "$D/trail.3.jsonl.zst"
verdict "two segments swapped" packed reordered "$b2"
cp other.zst "$D/trail.2.jsonl.zst"
verdict "a segment of another session" packed edited "$b2"
cp "$D/trail.3.jsonl.zst" "$D/trail.2.jsonl.zst"
verdict "a segment twice" packed edited "$b2"
head -n 3 two | zstd -q --content-size --check >"$D/trail.2.jsonl.zst" --stream-size="$(head -n 3 two | wc -c)"
verdict "a segment cut at a line's end and compressed again" packed deleted $((b2 + 3))
head -c 1000 two >x && zstd -q --content-size --check -f x -o "$D/trail.2.jsonl.zst"
verdict "a segment cut within a line" packed edited
head -c 300 "$D/trail.2.jsonl.zst" >x && cp x "$D/trail.2.jsonl.zst"
audit verify packed >said && fail "cut, and verified"
grep -q 'record [0-9]* is missing; the compressed file trail.2.jsonl.zst ends too early: it was cut or changed' said || fail "cut: $(cat said)"
audit verify --key "$vkey" packed >said && fail "cut, and verified with the public key"
grep -q 'is missing; the compressed file trail.2.jsonl.zst ends too early: it was cut or changed' said || fail "cut, public: $(cat said)"
verdict "a compressed file cut" packed deleted "$b2"
# Exactly behind a frame: nothing in the file says that more followed. The control has both.
head -n 3 two >x && tail -n +4 two >y
for part in x y; do
	zstd -q --content-size --check -f $part --stream-size="$(wc -c <$part)" -o $part.zst
done
cat x.zst y.zst >"$D/trail.2.jsonl.zst"
audit verify packed >said || fail "control: two frames: $(cat said)"
cp x.zst "$D/trail.2.jsonl.zst"
for key in '' "--key $vkey"; do
	# shellcheck disable=SC2086
	audit verify $key packed >said && fail "cut between frames, and verified"
	grep -q 'is missing; the compressed file trail.2.jsonl.zst ends too early: it was cut or changed' said ||
		fail "cut between frames $key: $(cat said)"
done
restore
: >"$D/trail.3.jsonl.zst"
audit verify packed >said && fail "emptied, and verified"
grep -q '; the compressed file trail.3.jsonl.zst ends too early: it was cut or changed' said || fail "emptied: $(cat said)"
restore
sed '2s/t0-/t1-/' two >x
cmp -s two x && fail "nothing was edited"
zstd -q --content-size --check -f x -o "$D/trail.2.jsonl.zst"
verdict "a record edited, compressed again" packed edited $((b2 + 1))
echo '{"v":1}' | zstd -q --content-size --check >>"$D/trail.2.jsonl.zst" --stream-size=8
verdict "a frame added" packed edited "$b3"
printf x >>"$D/trail.2.jsonl.zst"
agree "a byte behind"
restore
cp "$D/trail.3.jsonl.zst" "$D/trail.$((last + 1)).jsonl.zst"
verdict "a segment added" packed edited
zstd -dq "$D/trail.2.jsonl.zst" -o x.plain
sed '2s/t0-/t1-/' x.plain >"$D/trail.2.jsonl"
verdict "an edited plain one beside the compressed one" packed edited $((b2 + 1))
rm -f x x.plain two

# every byte of a compressed segment: a change is found, or the text is what it was
size=$(wc -c <"$D/trail.3.jsonl.zst")
at=0
while [ $at -lt "$size" ]; do
	python3 "$WARD_SRC/tests/cases/audit/lib/segments-flip.py" "$D/trail.3.jsonl.zst" $at
	case $(state_of packed) in
	"edited "*" $b3" | "deleted "*" $b3") ;;
	*)
		text packed >x
		cmp -s x packed.text || fail "byte $at: $(state_of packed)"
		;;
	esac
	[ $((at % 3)) -ne 0 ] || agree "byte $at"
	restore
	at=$((at + ${WARD_STEP:-211}))
done
