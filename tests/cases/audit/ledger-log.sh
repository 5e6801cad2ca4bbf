#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The ledger is a Merkle log. Its signed checkpoints reveal a cut end, a changed entry, another
# host's ledger and an older one. Both verifiers give each forgery its verdict. Checkpoints that
# were kept elsewhere reveal the rest. The test also covers kill -9 and ledgers of 0.1.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
other=$WARD_TMP/other
mkdir "$other"
# Another host: its trail is taken while its key is enrolled.
(cd "$other" && . "$WARD_SRC/tests/cases/audit/lib/audit.sh" && run --session theirs --events 3)
theirs=$("$WARDFS" audit key show --state "$other/state")
foreign=$other/state/sessions/later/trail.jsonl
run --session one --events 3
run --session two --events 3
audit key enroll "$theirs"
cp -a state enrolled
audit key revoke "$theirs"
(cd "$other" && . "$WARD_SRC/tests/cases/audit/lib/audit.sh" && run --session later --events 3)
expect 1 audit verify "$foreign"
has "$OUT" "later: foreign key"
expect 0 "$WARDFS" audit verify --state "$PWD/enrolled" "$foreign"
[ "$(grep -c '^wardfs\..*/ledger$' state/ledger.checkpoints)" = 6 ] || fail "not a checkpoint an entry"
tail -n 5 state/ledger.checkpoints >kept
cp -a state good

# forge WHAT: with the root key
forge() {
	python3 "$WARD_SRC/tests/cases/audit/lib/ledger-forge.py" "$WARD_SRC/tests/support" state "$1" || fail "forge $1"
}
# cut N FILE: its last N lines
cut_off() {
	head -n "-$1" "state/$2" >shorter
	cat shorter >"state/$2"
}
# said WANTED WHAT: of the ledger, by both
said() {
	agree "$2"
	[ "$(head -n 1 mine)" = "ledger $1" ] || fail "$2: $(head -n 1 mine), not $1"
}
again() {
	rm -rf state
	cp -a good state
}
# kept_said WANTED WHAT: with the checkpoint that was kept
kept_said() {
	expect "$1" audit verify --all --json --checkpoints kept
	printf '%s' "$OUT" | python3 "$WARD_SRC/tests/cases/audit/lib/verdicts.py" >mine
	rc=0
	python3 "$WARD_SRC/tests/support/verify.py" "$STATE" --checkpoints kept >theirs || rc=$?
	[ $rc -eq "$1" ] && cmp -s mine theirs || fail "$3: the verifiers do not agree: $(diff mine theirs)"
	grep -qx "$2" mine || fail "$3: $(cat mine)"
}

said "intact 6 0" "the control"
kept_said 0 "ledger intact 6 0" "the control, with what was kept"

echo "--- the end"
cut_off 1 ledger.jsonl
said "truncated 5 6" "the revocation is cut off"
expect 1 audit verify "$foreign"
has "$OUT" "later: intact"
has "$OUT" "ledger: truncated at record 6"
# The next entry is appended, and signs nothing over the entries that were cut.
audit summary one >summary 2>&1 || fail "summary: $(cat summary)"
said "edited 6 6" "and something else was written"
[ "$(grep -c '^wardfs\..*/ledger$' state/ledger.checkpoints)" = 6 ] || fail "a checkpoint over a ledger that was cut"
again
cut_off 2 ledger.jsonl
cut_off 10 ledger.checkpoints
said "intact 4 0" "both are cut: the control of what follows"
kept_said 1 "ledger truncated 0 5" "both are cut, and a checkpoint is elsewhere"
expect 1 audit verify --checkpoints kept one
has "$OUT" "ledger: truncated at record 5"
again

echo "--- the checkpoints"
cut_off 5 ledger.checkpoints
said "intact 6 0" "the last checkpoint is cut off: as kill -9 leaves it"
cut_off 5 ledger.checkpoints
said "deleted 6 0" "two are cut off"
rm state/ledger.checkpoints
said "deleted 6 0" "all are gone"
again
cut_off 1 ledger.checkpoints
said "intact 6 0" "a piece of the last one"
cut_off 5 ledger.checkpoints
said "deleted 6 0" "a piece of the last but one"
again
sed -i '2s/1/2/' state/ledger.checkpoints
said "edited 6 0" "another size"
again
echo "— witness.example AAAAAAAA" >>state/ledger.checkpoints
said "intact 6 0" "a signature of whom nobody knows"
again
sed -i '29,$d' state/ledger.checkpoints
sed -n 30p good/ledger.checkpoints | tr 'a-z' 'b-za' >>state/ledger.checkpoints
said "edited 6 0" "the last signature is changed"
again
cat "$other/state/ledger.checkpoints" >state/ledger.checkpoints
said "foreign-key 6 0" "those of another host"
again
sed -n 1,5p good/ledger.checkpoints >>state/ledger.checkpoints
said "edited 6 0" "the first one once more"
again
echo nonsense >>state/ledger.checkpoints
said "edited 6 0" "something else"
again

echo "--- the entries, with the root key"
forge nothing
said "intact 6 0" "sealed again: the control"
forge edit
said "edited 6 4" "an entry is changed"
again
forge swap
said "edited 6 2" "two change places"
again
sed -i 3d state/ledger.jsonl
forge nothing
said "edited 5 3" "one is left out"
again

echo "--- everything"
sed -n 1,4p good/ledger.jsonl >state/ledger.jsonl
sed -n 1,20p good/ledger.checkpoints >state/ledger.checkpoints
said "intact 4 0" "an earlier state: the control"
kept_said 1 "ledger truncated 0 5" "an earlier state, and a checkpoint is elsewhere"
rm -r state/sessions state/ledger.*
run --session one --events 3
run --session two --events 3
run --session three --events 3
said "intact 6 0" "begun anew with the same keys: the control"
kept_said 1 "ledger edited 0 1" "begun anew, and a checkpoint is elsewhere"
again
cp "$other/state/ledger.checkpoints" kept2
expect 1 audit verify --all --checkpoints kept2
has "$OUT" "checkpoints: foreign key: keys of other hosts signed 4 of 4"

echo "--- what a kill leaves"
for what in 'ledger.tree' 'ledger.tree ledger.checkpoints'; do
	# shellcheck disable=SC2086 # several
	(cd state && rm $what)
	audit summary one >summary 2>&1 || fail "summary: $(cat summary)"
	said "intact 7 0" "without $what"
	again
done
for bytes in 1 100 200; do
	truncate -s "-$bytes" state/ledger.checkpoints
	said "intact 6 0" "$bytes bytes of the last checkpoint are missing"
	audit summary one >summary 2>&1 || fail "summary: $(cat summary)"
	said "intact 7 0" "$bytes bytes were missing"
	[ "$(tail -n 4 state/ledger.checkpoints | head -n 1)" = 7 ] || fail "$(cat state/ledger.checkpoints)"
	again
done
head -c 60 /dev/urandom >state/ledger.tree
audit summary one >summary 2>&1 || fail "summary: $(cat summary)"
said "intact 7 0" "the tree is not that"
again
i=0
while [ $i -lt 16 ]; do
	timeout -s KILL "0.0$((i % 8 + 1))" "$WARDFS" audit summary one --state "$STATE" >/dev/null 2>&1 || :
	audit verify --all >mine || :
	grep -q "^ledger: \(intact\|gap\|incomplete\)" mine || fail "killed $i: $(head -n 1 mine)"
	i=$((i + 1))
done
agree "killed"
audit summary one >summary 2>&1 || fail "summary: $(cat summary)"
[ "$(tail -n 4 state/ledger.checkpoints | head -n 1)" = "$(wc -l <state/ledger.jsonl)" ] || fail "not all is covered"
again

echo "--- a ledger of 0.1"
rm state/ledger.checkpoints state/ledger.tree
forge old
said "intact 6 0" "without checkpoints"
expect 0 audit verify --all
has "$OUT" "ledger: intact: no checkpoint covers it yet"
run --session three --events 3
said "intact 8 0" "it went on"
expect 0 audit verify --all
has "$OUT" "ledger: intact: covered by checkpoints from entry 7 on"
cut_off 1 ledger.jsonl
said "truncated 7 8" "and its end was cut"

echo "--- a ledger that was cut lets nothing expire"
again
run --session short --events 3 --keep 1
audit summary one >summary 2>&1 || fail "summary: $(cat summary)"
sleep 2
cp -a state whole
cut_off 1 ledger.jsonl
audit prune >out 2>&1 || fail "prune: $(cat out)"
[ -d state/sessions/short ] || fail "short is gone"
rm -rf state
mv whole state
audit prune >out 2>&1 || fail "prune: $(cat out)"
[ ! -d state/sessions/short ] || fail "control: short is there"
said "intact 10 0" "and it has expired"
