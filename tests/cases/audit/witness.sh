#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit witness: a witness that follows C2SP tlog-witness cosigns the ledger's checkpoints.
# wardfs keeps and verifies the signatures. The witness notices a ledger that was cut or started
# over together with its checkpoints. Wrong answers of a witness change nothing.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session one --events 3
mkdir w
python3 "$WARD_SRC/tests/cases/audit/lib/witness.py" "$WARD_SRC/tests/support" "$(audit key show --ledger)" w >w/out 2>&1 &
witness=$!
trap 'kill $witness' EXIT
wait_until 60 test -s w/port || fail "the witness: $(cat w/out)"
url=http://127.0.0.1:$(cat w/port)
vkey=$(cat w/vkey)

# cosigned STATUS STATE RECORDS: what verify says of the witness, by both
cosigned() {
	expect "$1" audit verify --all --json --witness "$vkey"
	printf '%s' "$OUT" | python3 "$WARD_SRC/tests/cases/audit/lib/verdicts.py" >mine
	rc=0
	python3 "$WARD_SRC/tests/support/verify.py" "$STATE" --witness "$vkey" >theirs || rc=$?
	[ $rc -eq "$1" ] && cmp -s mine theirs || fail "the verifiers do not agree: $(diff mine theirs)"
	grep -q "^witness $2 $3 " mine || fail "not $2 $3: $(cat mine)"
}
ask() {
	audit witness "$url/$1" --key "$vkey"
}

cosigned 1 missing 0
expect 0 ask w
has "$OUT" "witness.example/w1 cosigned 2 entries"
cosigned 0 intact 2
# When, as a time: the present hour or the one before it.
expect 0 audit verify --all --witness "$vkey"
case $OUT in
*"witness.example/w1 cosigned 2 entries, the last time at $(date -u +%Y-%m-%dT%H):"*) ;;
*"witness.example/w1 cosigned 2 entries, the last time at $(date -u -d '1 hour ago' +%Y-%m-%dT%H):"*) ;;
*) fail "not when it was cosigned: $OUT" ;;
esac
# Again, and with what came since: consistency is proved.
expect 0 ask w
run --session two --events 3
expect 0 ask w/
has "$OUT" "cosigned 4 entries"
run --session three --events 3
expect 0 ask others
has "$OUT" "cosigned 6 entries"
[ "$(grep -c '^— other' state/ledger.cosigned)" = 0 ] || fail "lines of others were kept"
cosigned 0 intact 6
# The host stopped while the last one was kept: half of it, and zeros. What comes next is read.
head -n 1 state/ledger.cosigned >half
head -c 700 /dev/zero >>half
cat half >>state/ledger.cosigned
cosigned 0 intact 6
expect 0 ask w
cosigned 0 intact 6
[ "$(tr -d '\0' <state/ledger.cosigned | wc -c)" -eq "$(wc -c <state/ledger.cosigned)" ] || fail "zeros are left"
# The kept state is gone: status 409 says from which entry on.
mv state/ledger.cosigned kept
run --session four --events 3
expect 0 ask w
has "$OUT" "cosigned 8 entries"
cosigned 0 intact 8

echo "--- who answers otherwise"
run --session five --events 3
cp state/ledger.cosigned before
for how in wrong none huge garbage teapot more less reset half; do
	cp w/state w/state.before
	expect 125 ask $how
	hasnt "$OUT" "truncated"
	hasnt "$OUT" "edited"
	[ $how != half ] && [ $how != reset ] || has "$ERR" "Connection reset by peer"
	cmp -s before state/ledger.cosigned || fail "$how: something was kept"
	cp w/state.before w/state
done
expect 125 audit witness "http://127.0.0.1:1/w" --key "$vkey"
expect 125 audit witness "ftp://127.0.0.1/w" --key "$vkey"
expect 2 audit witness "$url/w"
expect 2 audit witness "$url/w" --key "$(audit key show)"
# The same key under another name is another one; the control follows.
expect 125 audit witness "$url/w" --key "$(python3 -c 'import hashlib, sys
n, _, k = sys.argv[1].split("+", 2)
import base64
print("else.example+" + hashlib.sha256(b"else.example\n" + base64.b64decode(k)).hexdigest()[:8] + "+" + k)' "$vkey")"
expect 0 ask w
cosigned 0 intact 10

echo "--- proofs of entries"
vkey=$(audit key show --ledger)
expect 0 audit prove --ledger two
audit prove --ledger two >two.proof
both --proof two.proof intact
expect 0 audit verify ./two.proof
has "$OUT" 'entry 4 of the ledger, "end" of two, is one of the 10'
grep -q '^— witness.example/w1 ' two.proof || fail "not with the cosigned checkpoint"
sed 's/^index 3/index 2/' two.proof >changed
both --proof changed edited
sed '5s/./A/1;5s/^AA/AB/' two.proof >changed
cmp -s changed two.proof && fail "nothing was changed"
both --proof changed edited
sed 's/^10$/11/' two.proof >changed
both --proof changed edited
other_key=$("$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$WARD_TMP/x" --events 1 \
	>acked 2>&1 && "$WARDFS" audit key show --ledger --state "$WARD_TMP/x")
own_key=$vkey vkey=$other_key
both --proof two.proof foreign-key
vkey=$own_key
expect 125 audit verify --key "$vkey" one
has "$ERR" "name a FILE"
expect 125 audit verify --key "$vkey" ./state/sessions/one/trail.jsonl
expect 125 audit prove --ledger nobody
vkey=$(cat w/vkey)

echo "--- another log"
other=$WARD_TMP/other
mkdir "$other"
(cd "$other" && . "$WARD_SRC/tests/cases/audit/lib/audit.sh" && run --session theirs --events 3)
expect 125 "$WARDFS" audit witness "$url/w" --key "$vkey" --state "$other/state"
has "$ERR" "does not follow this log (404). Give its operator the key: wardfs."

echo "--- rollback"
cp -a state good
head -n 6 good/ledger.jsonl >state/ledger.jsonl
head -n 30 good/ledger.checkpoints >state/ledger.checkpoints
agree "cut with its checkpoints: the control"
[ "$(head -n 1 mine)" = "ledger intact 6 0" ] || fail "$(cat mine)"
cosigned 1 truncated 0
# By what the witness signed.
expect 1 ask w
has "$OUT" "witness: truncated at record 7: "
# Without that there is only what somebody answers on an open wire, which is no verdict.
rm state/ledger.cosigned
expect 125 ask w
has "$ERR" "says that witness.example/w1 cosigned 10 entries, and the ledger has 6. The answer has no signature."
rm -r state/sessions state/ledger.*
for name in one two three four five six; do
	run --session $name --events 3
done
expect 125 ask w
has "$ERR" "is not the beginning of the ledger. The answer has no signature."
cp good/ledger.cosigned state/
cosigned 1 edited 0
expect 1 ask w
has "$OUT" "witness: edited at record"
# A cosignature that was changed.
rm -r state
cp -a good state
python3 - state/ledger.cosigned <<'END'
import sys
data = open(sys.argv[1], "rb").read()
at = data.rindex(b" ") + 60
open(sys.argv[1], "wb").write(data[:at] + (b"A" if data[at:at + 1] != b"A" else b"B") + data[at + 1:])
END
cosigned 1 edited 8
