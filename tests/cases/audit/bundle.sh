#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An auditor needs nothing but the bundle. Both verifiers accept it on another host and notice
# every change. A removed trail leaves a signed entry in the ledger; a vanished one does not. The
# ledger names who read a trail.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

run --session one --events 30 --checkpoint 10
run --session two --events 5
audit bundle one >stdout.tar || fail "bundle to stdout"
mkdir first away
tar -xf stdout.tar -C first || fail "no archive"
python3 "$WARD_SRC/tests/support/verify.py" --key "$(cat first/one/public.keys)" --attestation \
	first/one/attestation.json | grep -q '^one intact ' || fail "the second verifier on the attestation"
audit key rotate >fresh.key || fail "rotate"
audit bundle -o one.tar one || fail "bundle"
tar -xf one.tar -C away || fail "no archive"
[ "$(tar -tf stdout.tar)" = "$(tar -tf one.tar | grep -v '^one/key.chain$')" ] ||
	fail "another archive on stdout"
tar -tf one.tar | grep -q '^one/key.chain$' || fail "the rotation is not in it"
cmp away/one/trail.jsonl state/sessions/one/trail.jsonl || fail "another trail"
grep -qxF "$(cat fresh.key)" away/one/public.keys || fail "the key that attests is not there"
mv state away-state # the host is far away now

# both WHAT STATE: the two verifiers, on the bundle alone
both() {
	"$WARD_BUILD/wardfs" audit verify --json --key away/one/public.keys away/one/trail.jsonl >verify.json ||
		[ $? -eq 1 ]
	mine=$(python3 -c 'import json
r = json.load(open("verify.json"))[0]
print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)')
	theirs=$(python3 "$WARD_SRC/tests/support/verify.py" --key "$(head -n 1 away/one/public.keys)" \
		away/one/trail.jsonl away/one/checkpoints) || [ $? -eq 1 ]
	[ "$mine" = "$theirs" ] || fail "$1: $mine, the second verifier: $theirs"
	case $mine in "one $2 "*) ;; *) fail "$1: $mine, not $2" ;; esac
}
both "as it came" intact
"$WARD_BUILD/wardfs" audit verify --key away/one/public.keys ./away/one/attestation.json >verdict ||
	fail "the attestation: $(cat verdict)"
# The archive as it came: nothing is unpacked, and what is no bundle is refused.
in_place() {
	"$WARD_BUILD/wardfs" audit verify --key away/one/public.keys "$@" >verdict 2>&1
}
in_place one.tar || fail "the archive: $(cat verdict)"
[ "$(grep -c '^one: intact' verdict)" -eq 1 ] && grep -q '^one/attestation.json: intact: attested' verdict || fail "trail and attestation: $(cat verdict)"
in_place --checkpoints away/one/checkpoints ./one.tar || fail "with checkpoints of one's own: $(cat verdict)"
python3 "$WARD_SRC/tests/cases/audit/lib/bundle-hostile.py" one.tar
for bad in bad-*.tar; do
	expect 125 in_place "./$bad"
	grep -q 'this archive was changed or cut after wardfs wrote it' verdict || fail "$bad: $(cat verdict)"
done
[ ! -e escaped ] && [ ! -e ../escaped ] || fail "an archive wrote a file"
expect 1 in_place ./edited.tar
grep -q '^one: edited' verdict || fail "edited: $(cat verdict)"
grep -q '^one/attestation.json: .*its signature is good, but the trail in this bundle is not the one that it attests' verdict ||
	fail "edited: the attestation: $(cat verdict)"
cp -r away/one good
sed -i '5s/"cat"/"dog"/' away/one/trail.jsonl
both "a changed record" edited
cp good/trail.jsonl away/one/trail.jsonl
sed -i '$d' away/one/trail.jsonl
both "a cut trail" truncated
rm -rf away/one good
mv away-state state

# The README names the files as they are called in this bundle: plain before, compressed now; and
# policy.txt only where it is.
cp -r state unpacked-state
audit prune >/dev/null || fail "prune"
mkdir packed
audit bundle one | tar -xf - -C packed || fail "bundle of a compressed trail"
for of in first packed; do
	said=$(sed -n 's/^    wardfs \(audit verify .*trail.*\)$/\1/p' "$of/one/README")
	# shellcheck disable=SC2086
	(cd "$of/one" && "$WARDFS" $said) >verdict 2>&1 || fail "$of: README: $said: $(cat verdict)"
	grep -q '^one: intact' verdict || fail "$of: README: $said: $(cat verdict)"
	echo "$said" >"$of.said"
	[ "$(grep -c '^policy.txt ' "$of/one/README")" = "$([ ! -e "$of/one/policy.txt" ]; echo $?)" ] ||
		fail "$of: policy.txt: $(cat "$of/one/README")"
done
! cmp -s first.said packed.said || fail "control: the trail was not compressed: $(cat packed.said)"
rm -rf state packed
mv unpacked-state state

# --- who reads ---
reads() {
	grep '"kind":"read"' state/ledger.jsonl | grep '"session":"two"' | grep -c "\"verb\":\"$1\",\"by\":$(id -u)"
}
[ "$(reads show)" -eq 0 ] || fail "read before it was"
audit show two >/dev/null || fail "show"
audit export two >/dev/null || fail "export"
expect 1 audit diff one two
[ "$(reads show) $(reads export) $(reads diff)" = "1 1 1" ] || fail "$(grep '"kind":"read"' state/ledger.jsonl)"
before=$(wc -l <state/ledger.jsonl)
audit list >/dev/null
audit verify --all >/dev/null
[ "$(wc -l <state/ledger.jsonl)" -eq "$before" ] || fail "to list and to verify is not to read"
agree "with readers"
cp -r state read-state
sed -i '/"verb":"export"/d' state/ledger.jsonl
agree "a reader wiped out"
grep -q '^ledger deleted ' mine || fail "a reader wiped out: $(cat mine)"
rm -rf state
mv read-state state

# --- what is removed ---
audit remove tw 2>err && fail "removes what it guesses"
grep -q 'tw means the session two' err || fail "guess: $(cat err)"
cp -r state vanished
cp -r state untouched
rm -r vanished/sessions/two
audit remove --force --reason test two || fail "remove"
audit list --json | grep -q '"gone_reason": "test"' || fail "list --json: $(audit list --json)"
audit list | grep -q "^two .* removed 20.* by user $(id -u): test\$" || fail "list: $(audit list)"
# A question about it is answered from the ledger: by its whole name, and by a prefix.
for name in two tw; do
	audit show $name 2>err && fail "show $name"
	grep -q "two: its trail was removed 20.* by user $(id -u): test\. The ledger has its start, 20.*, and its end, 20.*: [0-9]* records, complete" \
		err || fail "show $name: $(cat err)"
done
for args in "file x two" "summary two" "denials two" "report two" "prove two 1" "diff one two"; do
	# shellcheck disable=SC2086
	audit $args >/dev/null 2>err && fail "$args"
	grep -q 'two: its trail was removed' err || fail "$args: $(cat err)"
done
audit show nobody 2>err && fail "show nobody"
grep -q 'no session nobody' err || fail "control: $(cat err)"
audit key show two | grep -q '^wardfs/' || fail "its key: $(audit key show two)"
[ ! -e state/sessions/two ] || fail "it is there still"
agree "after removal"
grep -qx 'two removed 0 0' mine || fail "removed: $(cat mine)"
audit verify --all >verdict || fail "what was removed by the rules is no damage: $(cat verdict)"
grep -q "^two: removed: 20.*by user $(id -u): test " verdict || fail "by whom: $(cat verdict)"
audit list | grep -q '^two ' || fail "the ledger forgot it"
audit remove two 2>err && fail "removes twice"
# The control: the same without that entry; and with one that somebody else signed.
mv state removed
mv vanished state
agree "vanished"
grep -qx 'two missing 0 0' mine || fail "vanished: $(cat mine)"
audit show two 2>err && fail "show of a missing trail"
grep -q 'two: its trail is missing, and the ledger does not say that it was removed' err || fail "missing: $(cat err)"
rm -rf state
mv removed state
python3 "$WARD_SRC/tests/cases/audit/lib/bundle-removed.py" "$WARD_SRC/tests/support" state/ledger.jsonl state/key || fail "no such entry"
agree "signed by nobody"
grep -qx 'two missing 0 0' mine || fail "signed by nobody: $(cat mine)"
# Nor with a key of one's own: another signing key, which did not take the place of the one before.
rm -rf state
cp -r untouched state
mv state/signing.key signing.key
head -c 32 /dev/urandom >state/signing.key
chmod 600 state/signing.key
audit remove --force --reason test two || fail "remove with another key"
agree "signed by a stranger"
grep -qx 'two missing 0 0' mine || fail "signed by a stranger: $(cat mine)"
# The control: the same with one that did.
rm -rf state
cp -r untouched state
audit key rotate >key && audit key rotate >key && audit remove --force --reason test two || fail "remove after a rotation"
agree "signed by a later key"
grep -qx 'two removed 0 0' mine || fail "signed by a later key: $(cat mine)"
# A session that runs is not removed.
mkfifo hold
"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$STATE" \
	--session live --hold <hold >live.out 2>live.err &
live=$!
exec 9>hold
i=0
until grep -q ready live.out; do
	i=$((i + 1))
	[ $i -lt 1200 ] || fail "live: $(cat live.err)"
	sleep 0.05
done
audit remove live 2>err && fail "removes what runs"
grep -q 'has no end' err || fail "live: $(cat err)"
exec 9>&-
wait "$live" || fail "live: $(cat live.err)"
audit remove --force --reason test live || fail "removes what has ended"

# Of none of them there is a trail any more.
rm -rf state/sessions/*
audit show 2>err && fail "show of nothing"
grep -q 'no trail any more: wardfs audit list' err || fail "none left: $(cat err)"

[ "$(id -u)" -eq 0 ] || skip "the rest needs root"
# A bundle of a few blocks that says to be large: holes stay holes, in memory as on a disk.
python3 "$WARD_SRC/tests/cases/audit/lib/bundle-hole.py"
mkdir small
unshare --mount sh -c 'mount -t tmpfs -o size=4m tmpfs small && TMPDIR=$PWD/small "$0" audit verify --state "$1" ./hole.tar' "$WARD_BUILD/wardfs" "$STATE" 2>err &&
	fail "verified"
grep -q 'the first line is not a record' err || fail "holes: $(cat err)"
