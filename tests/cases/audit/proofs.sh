#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A proof taken from a trail verifies with the public key alone. Both verifiers notice every
# change to it.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

run --session s --events 21 --checkpoint 6
run --session other --events 21 --checkpoint 6
vkey=$(audit key show)
for seq in 1 2 6 7 12 17 22 23; do
	audit prove s $seq >p.$seq || fail "prove $seq"
	both --proof p.$seq intact
	grep -q "^s intact 23 0" mine || fail "$(cat mine)"
	# It holds the record itself, as it stands in the trail.
	sed -n 's/^extra //p' p.$seq | base64 -d >record
	sed -n ${seq}p state/sessions/s/trail.jsonl | tr -d '\n' | cmp -s - record ||
		fail "record $seq"
done
audit prove --size 12 s 7 >p.early || fail "an earlier checkpoint"
both --proof p.early intact
audit verify "$PWD/p.early" | grep -q '^s: intact: record 7 is one of the 12' || fail "text"
for pair in "0 6" "6 12" "6 23" "12 18" "23 23"; do
	audit prove --from "${pair% *}" --size "${pair#* }" s >"c.${pair% *}" || fail "from $pair"
	both --proof "c.${pair% *}" intact
done

audit prove --size 12 s 13 2>err && fail "a record that the checkpoint does not cover"
grep -q 'covers 12 records, not record 13' err || fail "$(cat err)"
audit prove --size 11 s 3 2>err && fail "a checkpoint that there is none of"
audit prove --from 18 --size 12 s 2>err && fail "backwards"
for args in "s" "s 1 2" "--from 6 s 3" "--file x s 3" "--file x --from 3 s" "--key x s 1"; do
	rc=0
	# shellcheck disable=SC2086
	audit prove $args >/dev/null 2>&1 || rc=$?
	[ $rc -eq 2 ] || fail "usage of 'prove $args'"
done

# All records of a file. A proof is about the records that `file` shows, wherever the tree of the
# checkpoint ends.
run --session files --events 90 --checkpoint 7 --name /workspace/t0-3
for size in 14 21 28 49 91 "$(wc -l <state/sessions/files/trail.jsonl)"; do
	audit prove --file t0-3 --size "$size" files >f.$size 2>err || fail "file: $(cat err)"
	both --proof f.$size intact
	sed -n 's/^extra //p' f.$size | while read -r line; do
		echo "$line" | base64 -d
		echo
	done >records
	head -n "$size" state/sessions/files/trail.jsonl | grep '"path":"/workspace/t0-3"' >want
	[ -s want ] && cmp -s want records || fail "size $size: other records than the file has"
done
[ "$(wc -l <want)" -gt 1 ] || fail "one record only: this proves less than it should"
audit verify "$PWD/f.$size" | grep -q "^files: intact: $(wc -l <want) records are among" || fail "text"
# show, file and process give the same, for what they show; with --json each record beside its
# proof.
audit file --proof t0-3 files 2>err | cmp -s - f.$size || fail "file --proof: $(cat err)"
audit show --proof --kind deny files >shown || fail "show --proof"
audit show --json --kind deny files >want 2>/dev/null
[ "$(grep -c ^extra shown)" -eq "$(wc -l <want)" ] || fail "other records than show has"
both --proof shown intact
audit show --proof --json --kind deny files >pairs || fail "show --proof --json"
both --proof pairs intact
audit verify "$PWD/pairs" | grep -q "^files: intact: $(wc -l <want) records are among" || fail "pairs"
python3 "$WARD_SRC/tests/cases/audit/lib/proofs-pairs.py" || fail "pairs are not the records and their proofs"
for f in badrecord badreal badtrue badmember badother badboth badmore badback badpath badcut; do
	both --proof $f edited
done
both --proof same intact
# An integer of 64 bits; and a string that only reads like it.
run --session large --events 1 --every
audit show --proof --json --kind exec large >large || fail "show --proof of large integers"
grep -q '"ino":18446744073709551614' large || fail "no large integer: $(cat large)"
both --proof large intact
sed 's/"ino":18446744073709551614/"ino":"18446744073709551614"/' large >badlarge
both --proof badlarge edited
sed 's/"ino":18446744073709551614/"ino":18446744073709551615/' large >badlarge
both --proof badlarge edited
# Every record, of trails of every length: each node of a tree is that of some proof.
for n in $(seq 0 21) 30 62 63; do
	run --session "all$n" --events "$n" --checkpoint 7
	audit show --proof "all$n" >every || fail "$n: show --proof"
	[ "$(grep -c ^extra every)" -eq "$(wc -l <"state/sessions/all$n/trail.jsonl")" ] || fail "$n: not all"
	both --proof every intact
	audit show --proof --json "all$n" >every || fail "$n: show --proof --json"
	both --proof every intact
done
audit show --proof --follow files 2>/dev/null && fail "--proof of what comes"
audit show --proof --kind quota files 2>err && fail "a proof of nothing"
grep -q 'is asked for' err || fail "$(cat err)"

audit prove --file nosuch files 2>err && fail "a file without records"
grep -q 'none of the .* records' err || fail "$(cat err)"
audit prove files 12 >one
audit prove files 13 >two
cat one two >bothgood
both --proof bothgood intact
cat two one >badorder
both --proof badorder edited
cat one one >badtwice
both --proof badtwice edited
cat one p.12 >badsession
both --proof badsession edited
cat one c.6 >badkind
both --proof badkind edited
cat c.6 one >badkind2
both --proof badkind2 edited
{ cat one && printf x; } >badtail
both --proof badtail edited

# Changed at random; the parts of one with those of another.
python3 "$WARD_SRC/tests/cases/audit/lib/proofs-changed.py" || fail "making changed proofs"
n=0
for f in bad.*; do
	# A changed first line makes it no proof at all.
	case $(head -n 1 "$f") in
	c2sp.org/tlog-proof@v1 | wardfs/consistency@v1) both --proof "$f" "edited foreign-key" ;;
	*) continue ;;
	esac
	n=$((n + 1))
done
[ $n -gt 40 ] || fail "only $n changed proofs were looked at"
audit prove other 12 >p.other
sed '/^extra/s/.*/'"$(grep '^extra' p.other | sed 's,/,\\/,g')"'/' p.12 >spliced
both --proof spliced edited
earlier=$vkey
audit key rotate >/dev/null
vkey=$(audit key show)
both --proof p.12 foreign-key
vkey=$earlier
both --proof p.12 intact

# A trail that was changed gives no proof.
sed -i '5s/cat/dog/' state/sessions/s/trail.jsonl
audit prove s 12 2>err && fail "a proof from a changed trail"
grep -q 'not that of its checkpoint' err || fail "$(cat err)"
audit prove other 12 >/dev/null || fail "control: the other trail"
