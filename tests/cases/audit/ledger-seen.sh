#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A listing keeps what it read of the ledger, and the next one reads only what is new. It prints
# the same, and reports what was cut, replaced or forged behind that point. It ignores a kept file
# that is not the reader's own. Changed older entries are for verify to find.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
seen=state/ledger.seen
listed() {
	expect 0 audit list "$@"
	printf "%s\n" "$OUT" >now
}
bad() { has "$ERR" "the ledger is not intact: $1"; }
good() { hasnt "$ERR" "not intact"; }
# The same is listed with and without what was kept.
same() {
	listed --json
	cp now with
	mv $seen kept
	listed --json
	mv kept $seen
	cmp -s with now || fail "$1: $(diff with now)"
}

i=0
while [ $i -lt 70 ]; do
	run --session s$i --events 1
	i=$((i + 1))
done
[ ! -e $seen ] || fail "there before a listing"
listed
good
[ -e $seen ] || fail "nothing was kept"
expect_mode() { [ "$(stat -c %a:%u $seen)" = "600:$(id -u)" ] || fail "$(stat -c %a:%u $seen)"; }
expect_mode
same "nothing new"
run --session later --events 1
audit hold --reason why s3 >/dev/null || fail hold
audit remove --force --reason over s4 >/dev/null || fail remove
audit key rotate >/dev/null || fail rotate
run --session other-key --events 1
same "new entries of old and new sessions"
listed
has "$OUT" "on hold: why"
has "$OUT" "removed"
has "$OUT" "other-key"
# One file for many: once enough is new, it is written again.
was=$(stat -c %i $seen)
i=0
while [ $i -lt 64 ]; do
	run --session t$i --events 1
	i=$((i + 1))
done
same "much is new"
[ "$(stat -c %i $seen)" != "$was" ] || fail "not written again"
expect 0 audit verify --all

cp -a state good
# In their place: a copy has other inodes.
again() {
	cat good/ledger.jsonl >state/ledger.jsonl
	cat good/ledger.checkpoints >state/ledger.checkpoints
	rm -f $seen
	cp -p good/ledger.seen $seen
}
edit() {
	sed '2s/"time":"2/"time":"3/' good/ledger.jsonl >edited
	cat edited >state/ledger.jsonl
}
# Attack: an entry of before is changed. A listing does not read it again; verification does.
again
edit
listed
good
expect 1 audit verify --all
has "$OUT" "ledger: edited at record 2"
# The same, where what was kept is gone, is another's, or is not what a listing wrote.
again
edit
rm $seen
listed
bad "edited"
[ ! -e $seen ] || fail "kept what is not intact"
for how in "chown 12345" "chmod 0620" "truncate -s -1" "truncate -s 20" \
	"sed -i s/s69/s68/" "truncate -s 0"; do
	again
	edit
	$how $seen
	listed
	bad "edited"
done
again
edit
mv $seen elsewhere
ln -s "$PWD/elsewhere" $seen
listed
bad "edited"
rm $seen
mkfifo $seen
listed
bad "edited"
# Control: the file itself is taken.
rm $seen
mv elsewhere $seen
listed
good
# Of another root key.
again
head -c 32 /dev/urandom >state/key
listed
bad ""
cp -p good/key state/key
# Attack: the ledger is replaced by another file.
again
sed -i '2s/"time":"2/"time":"3/' state/ledger.jsonl
listed
bad "edited"
rm -r state
cp -a good state
sed -i '2s/"time":"2/"time":"3/' state/ledger.jsonl
listed
bad "edited"
rm -r state
cp -a good state
# Attack: entries are cut off: behind what was kept, and before its end.
listed
run --session new --events 1
listed
good
sed '$d' state/ledger.jsonl >less
cat less >state/ledger.jsonl
listed
bad "truncated"
head -n 100 good/ledger.jsonl >less
cat less >state/ledger.jsonl
listed
bad "truncated"
# Attack: with its checkpoints, the last of which was seen.
cat good/ledger.jsonl >state/ledger.jsonl
head -n 20 good/ledger.checkpoints >less
cat less >state/ledger.checkpoints
listed
bad "deleted"
# Attack: an entry without the key; one of the past once more.
for entry in "$(tail -n 1 good/ledger.jsonl)" "$(sed -n 3p good/ledger.jsonl)" "x"; do
	cat good/ledger.jsonl >state/ledger.jsonl
	cat good/ledger.checkpoints >state/ledger.checkpoints
	listed
	good
	printf '%s\n' "$entry" >>state/ledger.jsonl
	listed
	has "$ERR" "the ledger is not intact"
done
# Attack: a checkpoint over other entries.
cat good/ledger.jsonl >state/ledger.jsonl
cat good/ledger.checkpoints >state/ledger.checkpoints
listed
good
run --session more --events 1
python3 - <<'P'
text = open("state/ledger.checkpoints", encoding="utf-8").read().rstrip("\n").split("\n")
text[-3] = text[2]
open("state/ledger.checkpoints", "r+", encoding="utf-8").write("\n".join(text) + "\n")
P
listed
bad "edited"

# Root reads the ledger of another user (a node's writer): it keeps what it read, as that user's.
# Where that user is not its owner, the file is no use. The control is the same file of that user.
if [ "$(id -u)" -eq 0 ]; then
	rm -r state
	cp -a good state
	rm $seen
	chown -R 12345 state
	listed
	good
	[ "$(stat -c %a:%u $seen)" = 600:12345 ] || fail "$(stat -c %a:%u $seen)"
	cp -p $seen theirs
	edit
	for whose in 12345 0 12346; do
		rm -f $seen
		cp -p theirs $seen
		chown $whose $seen
		listed
		case $whose in 12345) good ;; *) bad "edited" ;; esac
	done
fi
