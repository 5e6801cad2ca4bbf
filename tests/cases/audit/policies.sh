#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session's trail contains its policies, with the digests that the records name, each for the
# time when it was in force. Both verifiers compare the copies beside the trail with them.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
trap '"$WARDFS" umount --lazy mnt >/dev/null 2>&1 || :' EXIT
export XDG_STATE_HOME="$PWD"
STATE=$PWD/wardfs
mkdir src mnt
echo text >src/f
printf '[policy]\nversion = 1\n[limits]\nwall = 1h\n[files]\nwrite = /workspace\n' >open
{ cat open && printf '# a comment is no part of the meaning: <b>\nread = /workspace/f\n'; } >tight
expect 0 "$WARDFS" mount --session r1 --policy ./open src mnt
# The names of moments that lie between two policies.
moment() {
	sleep 0.01
	date -u +%Y-%m-%dT%H:%M:%S.%N | cut -c1-29
	sleep 0.01
}
before=$(moment)
expect 0 "$WARDFS" policy reload r1 ./tight
between=$(moment)
refused "wriet" sh -c 'sed s/write/wriet/ open >bad; "$WARDFS" policy reload r1 ./bad'
expect 0 "$WARDFS" policy reload r1 ./open
after=$(moment)
expect 0 "$WARDFS" umount mnt
wait_until 60 sh -c '! "$WARDFS" ps --json | grep -q r1' || fail "it still runs"
agree "as it came"
grep -qx 'r1 intact .*' mine || fail "control: $(cat mine)"

# Each text is the one whose digest the records have.
python3 "$WARD_SRC/tests/cases/audit/lib/policies-of.py" "$STATE/sessions/r1/trail.jsonl" >digests ||
	fail "the trail has other policies"
audit policy --json r1 >all.json || fail "policy --json"
python3 "$WARD_SRC/tests/cases/audit/lib/policies-shown.py" digests all.json || fail "other policies are shown"
at() { audit policy --at "$1" r1 | sha256sum | cut -d' ' -f1; }
[ "$(at "$before")" = "$(sed -n 1p digests)" ] || fail "before the reload"
[ "$(at "$between")" = "$(sed -n 2p digests)" ] || fail "between"
[ "$(at "$after")" = "$(sed -n 3p digests)" ] || fail "after"
[ "$(at "$before")" != "$(at "$between")" ] || fail "control: the reload changed nothing"
expect 125 audit policy --at 2001-01-01 r1
has "$ERR" "began later than 2001-01-01"
expect 2 audit policy --at nonsense r1
audit policy r1 >text || fail "policy"
[ "$(grep -c '^; in force from 20.*, record ' text)" -eq 3 ] || fail "headings: $(grep '^;' text)"
grep -q '^; in force from 20.* (a reload by uid 0), sha256 ' text || fail "by whom: $(grep '^;' text)"
# The printed text is a policy with that digest.
audit policy --at "$between" r1 >again
has "$("$WARDFS" policy show --json --policy ./again)" "$(sed -n 2p digests)"
grep '"verb":"policy"' "$STATE/ledger.jsonl" | grep -q '"session":"r1"' || fail "the ledger has not that it was read"

# Bundles and reports carry them.
mkdir away
audit bundle r1 | tar -xf - -C away || fail "bundle"
cmp text away/r1/policy.txt || fail "policy.txt"
for file in policy policy.1 policy.2; do
	cmp away/r1/$file "$STATE/sessions/r1/$file" || fail "$file of the bundle"
done
[ ! -e away/r1/policy.3 ] && ! cmp -s away/r1/policy away/r1/policy.1 || fail "control: policy.3, policy.1"
audit bundle r1 >r1.tar || fail "bundle"
expect 0 "$WARDFS" audit verify --key "$(audit key show)" r1.tar
has "$OUT" "r1: intact"
# Attack: a file that is called nearly so. The control is the same archive above.
for name in policy.01 policy.0 policy.x policy.1x; do
	rm -rf odd
	mkdir odd
	tar -xf r1.tar -C odd
	echo x >odd/r1/$name
	tar --format=ustar -cf odd.tar -C odd r1/README r1/checkpoints r1/trail.jsonl "r1/$name" 2>/dev/null ||
		tar --format=ustar -cf odd.tar -C odd r1/README r1/checkpoints r1/trail.jsonl.zst "r1/$name"
	expect 125 "$WARDFS" audit verify --key "$(audit key show)" odd.tar
	has "$ERR" "this archive was changed or cut after wardfs wrote it"
done
for format in html md json; do
	audit report --format $format r1 >report.$format || fail "report: $format"
	for digest in $(cat digests); do
		grep -q "$digest" report.$format || fail "report: $format has not $digest"
	done
	grep -q 'read = /workspace/f' report.$format || fail "report: $format has not the text"
done

# Those in a bundle, which nobody unpacks. The control is the bundle packed again as it was.
# packed STATUS SAYS COMMAND...: what verify says of the bundle once COMMAND has run in it
packed() {
	rm -rf again again.tar
	mkdir again
	tar -xf r1.tar -C again
	status=$1
	says=$2
	shift 2
	(cd again/r1 && "$@") || fail "control: $*"
	for f in $(tar -tf r1.tar) r1/policy.7; do
		[ ! -e "again/$f" ] || echo "$f"
	done >members
	tar --format=ustar -cf again.tar -C again -T members
	expect "$status" audit verify ./again.tar
	has "$OUT" "$says"
}
packed 0 "r1: intact" true
packed 1 "edited: the file policy is not the policy that the records have" sed -i 's/write = /read  = /' policy
packed 1 "edited: the file policy.1 is not" sed -i 's/comment/Comment/' policy.1
packed 1 "edited: the file policy.txt is not the policies that the records have" sed -i 's/write/wrote/' policy.txt
packed 1 "edited: the file policy.txt is not" sh -c 'echo x >>policy.txt'
packed 1 "deleted: the file policy, a copy" rm policy
packed 1 "deleted: the file policy.txt, a copy" rm policy.txt
packed 1 "edited: it has files of 4 policies, and the records of 3" cp policy.1 policy.7

# The copies beside it. Each case begins with the untouched state, which is intact.
cp -a wardfs untouched
dir=wardfs/sessions/r1
vkey=$(audit key show)
# copies STATE WHAT COMMAND...: both verifiers say so, by the root key and by the public key alone
copies() {
	want=$1
	what=$2
	shift 2
	rm -rf wardfs
	cp -a untouched wardfs
	"$@" || fail "control: $what"
	agree "$what"
	grep -q "^r1 $want " mine || fail "$what: $(cat mine)"
	public=0
	audit verify --all --key "$vkey" >verdict || public=$?
	grep -q "^r1: $want" verdict || fail "$what, public: $(cat verdict)"
	theirs=0
	python3 "$WARD_SRC/tests/support/verify.py" --key "$vkey" --all "$STATE" >line || theirs=$?
	[ "$public" -eq "$theirs" ] && grep -q "^r1 $want " line || fail "$what, public: $(cat line)"
}
copies intact "untouched" true
copies edited "policy is another" sed -i 's/write = /read  = /' $dir/policy
copies edited "policy.1 is another" sed -i 's/comment/Comment/' $dir/policy.1
copies edited "policy.1 and policy.2 exchanged" sh -c "cd $dir && mv policy.1 x && mv policy.2 policy.1 && mv x policy.2"
copies edited "a byte more" sh -c "printf x >>$dir/policy"
copies edited "a byte less" truncate -s -1 $dir/policy
copies edited "a link to the same" sh -c "mv $dir/policy kept && ln -s $PWD/kept $dir/policy"
copies deleted "policy is gone" rm $dir/policy
