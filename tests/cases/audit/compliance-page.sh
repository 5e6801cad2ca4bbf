#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command of docs/for-compliance.md does what the page says: the five questions first, then
# the other commands in the page's order. The page's policy loads.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/certificates.sh"
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
page=$WARD_SRC/docs/for-compliance.md

awk '/^```ini$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >floor.policy
expect 0 "$WARDFS" policy check --as floor floor.policy
expect 0 grep -q 'hash *= writes' floor.policy

project p
cd p || exit 1
mkdir src
echo KEY=1 >.env
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nlog = opens\nhash = writes\n' >../policy
expect 0 "$WARDFS" run --policy ../policy --session old -- true
expect 0 "$WARDFS" run --policy ../policy --session day1 --label ticket=A-17 -- sh -c \
	'echo x >src/draft; mv src/draft src/new.c; cat .env 2>/dev/null; cat src/new.c'
PID=$("$WARDFS" audit show --json --kind rename day1 2>/dev/null | sed 's/.*"pid":\([0-9]*\).*/\1/')
export PID

# syslog: one that takes what comes
cp "$WARD_SRC/tests/cases/audit/lib/compliance-page-syslog.py" ../syslog.py
python3 ../syslog.py &
syslog=$!
pids=$syslog
trap 'for pid in $pids; do kill "$pid" || :; done' EXIT
wait_until 60 test -S ../log || fail "no syslog"
# and collectors over TLS
(cd .. && certificates)
printf 'Authorization: Bearer abc\n' >../pki/headers
chmod 600 ../pki/headers
for kind in syslog otlp; do
	mkdir ../$kind
	(cd ../$kind && exec python3 "$WARD_SRC/tests/cases/audit/lib/export-collector.py" $kind --tls ../pki/server) &
	pids="$pids $!"
	wait_until 60 test -s ../$kind/port || fail "no collector"
done
echo 'Bearer abc' >../otlp/token

# wardfs COMMAND, of the page
mkdir ../bin
ln -s "$WARDFS" ../bin/wardfs
PATH=$WARD_TMP/bin:$PATH
python3 "$WARD_SRC/tests/support/console.py" "$page" || fail "the five questions"
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } !on || /^#/ { next }
	sub(/\\$/, "") { begun = begun $0; next } { print begun $0; begun = "" }' "$page" | sed -e "s,unix:/dev/log,unix:../log," \
	-e "s,logs.example.com:6514,localhost:$(cat ../syslog/port)," -e "s,/etc/wardfs/,../pki/,g" \
	-e "s,otel.example.com:4318,localhost:$(cat ../otlp/port)," >../lines
[ "$(wc -l <../lines)" -ge 25 ] || fail "the page has lost its commands"
n=0
while read -r line; do
	n=$((n + 1))
	sh -c "$line" >"../out.$n" 2>"../err.$n" </dev/null || fail "$line: $(cat "../out.$n" "../err.$n")"
	case $line in
	*" list "*) expect 0 grep -q '^day1 ' "../out.$n" ;;
	*" denials "*) expect 0 grep -q 'hide .*\.env' "../out.$n" ;;
	*"show --kind deny "*) expect 0 grep -q 'deny .*/workspace/\.env' "../out.$n" ;;
	*" --path "*) expect 0 grep -q 'rename .*/workspace/src/new\.c' "../out.$n" ;;
	*" file "*) expect 0 grep -q 'create .*/workspace/src/draft' "../out.$n" ;;
	*" process "*) expect 0 grep -q 'rename .*/workspace/src/draft' "../out.$n" ;;
	*" sql "*) expect 0 grep -q '^day1' "../out.$n" ;;
	*" verify "*)
		expect 0 grep -q 'intact' "../out.$n"
		expect 1 grep -v 'intact\|: removed' "../out.$n"
		;;
	esac
done <../lines

# The commands left the files that the page names.
expect 0 grep -q '<html' day1.html
trail=$XDG_STATE_HOME/wardfs/sessions/day1/trail.jsonl.zst # by prune
zstd -dcq "$trail" | cmp - day1.jsonl || fail "not the lines of the trail"
wait_until 60 grep -q 'CEF:0.*session\.end' ../logged || fail "syslog has not all of it"
expect 0 grep -q '"class_uid":1001' day1.ocsf
for kind in syslog otlp; do
	[ ! -e ../$kind/wrong ] || fail "$kind: $(cat ../$kind/wrong)"
	[ "$(grep -c '^day1 ' ../$kind/got)" -eq "$(wc -l <day1.jsonl)" ] || fail "$kind has not all of it"
done
expect 0 sh -c 'tar tf day1.tar | grep -q day1/attestation.json'
[ "$(grep -c '^extra' refused.proof)" -eq "$(wc -l <refused.json)" ] || fail "proofs"
"$WARDFS" audit verify --all | grep -q '^old: removed' || fail "the ledger does not know what was removed"
for verb in show export attest; do
	grep -q "\"session\":\"day1\",\"kind\":\"read\".*\"verb\":\"$verb\"" "$XDG_STATE_HOME/wardfs/ledger.jsonl" ||
		fail "the ledger does not say that $verb was asked"
done
grep -q '"kind":"question".*\.env' "$XDG_STATE_HOME/wardfs/ledger.jsonl" || fail "the question is not recorded"
# The control: a trail that was changed passes none of them.
printf xxxxxxxx | dd of="$trail" bs=1 seek=2000 conv=notrunc status=none
expect 1 "$WARDFS" audit verify day1
exit 0
