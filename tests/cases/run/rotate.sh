#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [audit] rotate in a session: the log continues in new files, and wardfs compresses the old ones
# beside it. A file that cannot be compressed stays. The trail is whole.
set -eu
. "$WARD_SRC/tests/lib.sh"

project "$WARD_TMP/p"
cd "$WARD_TMP/p" || fail "cd"
i=0
while [ $i -lt 300 ]; do
	echo $i >f$i
	i=$((i + 1))
done
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nrotate = 64K\nkeep = 3d\n' >../rotate.policy
S=$XDG_STATE_HOME/wardfs/sessions
# count SESSION PATTERN: files of that name
count() {
	find "$S/$1" -name "$2" | wc -l
}
segments() {
	find "$S/$1" -type f -name 'trail*' | wc -l
}
packed() {
	[ "$(count "$1" '*.zst')" -ge "$2" ]
}
# intact SESSION: and so say both verifiers
intact() {
	expect 0 "$WARDFS" audit verify "$1"
	has "$OUT" "$1: intact"
	python3 "$WARD_SRC/tests/support/verify.py" "$XDG_STATE_HOME/wardfs" "$1" >"$WARD_TMP/said" ||
		fail "$1, second verifier: $(cat "$WARD_TMP/said")"
}

# control: without rotate one file
expect 0 "$WARDFS" run --session one -- sh -c 'cat f* f* >/dev/null'
[ "$(segments one)" -eq 1 ] || fail "$(ls "$S/one")"

# enough SESSION: records are made until there are three files. A writer that gets no processor goes
# on in the one that it has, so that how many records these are is not known before.
three() {
	[ "$(segments "$1")" -ge 3 ]
}
enough() {
	i=0
	until three "$1"; do
		i=$((i + 1))
		[ $i -le 60 ] || fail "64K a file, and: $(ls -l "$S/$1")"
		echo >&3
		wait_until 2 three "$1" || continue
	done
}

mkfifo "$WARD_TMP/go"
# The session waits inside until what is done outside was seen.
"$WARDFS" run --policy ../rotate.policy --session many -- sh -c 'cat f* f*; while read -r x; do cat f* f*; done' \
	<"$WARD_TMP/go" >/dev/null 2>"$WARD_TMP/err" &
pid=$!
exec 3>"$WARD_TMP/go"
wait_until 60 packed many 1 || fail "nothing was compressed: $(ls -l "$S/many") $(cat "$WARD_TMP/err")"
# a reader while it runs
expect 1 "$WARDFS" audit verify many
has "$OUT" "the session is running"
found() {
	"$WARDFS" audit file "$1" many | grep -q "/workspace/$1"
}
wait_until 60 found f299 || fail "file, while it runs"
timeout 60 "$WARDFS" audit tail -f --json --path /workspace/f0 many >"$WARD_TMP/tail" 3>&- &
tail=$!
enough many
exec 3>&-
wait $pid || fail "run: $(cat "$WARD_TMP/err")"
wait $tail || fail "tail -f: does not end"
[ -s "$WARD_TMP/tail" ] || fail "tail -f: nothing came"
[ "$(count many '*.new')" -eq 0 ] || fail "half done"
intact many
grep -q '"session":"many","kind":"start".*"keep":259200' "$XDG_STATE_HOME/wardfs/ledger.jsonl" ||
	fail "the ledger does not say how long"

# Nothing that follows can be compressed: a name is taken by a directory. The plain ones stay.
"$WARDFS" run --policy ../rotate.policy --session stuck -- sh -c 'while read -r x; do cat f* f*; done' \
	<"$WARD_TMP/go" >/dev/null 2>"$WARD_TMP/err" &
pid=$!
exec 3>"$WARD_TMP/go"
wait_until 60 test -s "$S/stuck/trail.jsonl" || fail "stuck did not start"
mkdir "$S/stuck/trail.jsonl.zst.new"
i=2
while [ $i -lt 100 ]; do
	mkdir "$S/stuck/trail.$i.jsonl.zst.new"
	i=$((i + 1))
done
enough stuck
exec 3>&-
wait $pid || fail "run: $(cat "$WARD_TMP/err")"
[ "$(count stuck '*.jsonl')" -ge 3 ] || fail "$(ls -l "$S/stuck")"
packed stuck 1 && fail "compressed, into what?"
rmdir "$S"/stuck/*.new
intact stuck
# Files that a killed process left belong to nobody: prune takes them away, and compresses.
head -c 100 /dev/zero >"$S/stuck/trail.2.jsonl.zst.new"
expect 0 "$WARDFS" audit prune
[ "$(count stuck '*.new')$(count stuck '*.jsonl')" = 00 ] || fail "$(ls -l "$S/stuck")"
intact stuck
intact many
