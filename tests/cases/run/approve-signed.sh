#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Signed answers: wardfs approve sign, and [approvals] approvers. Each attack on an answer has a
# control, and a second implementation in Python checks the same answers.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
second=$WARD_SRC/tests/support/signed_answers.py
asking_project
mkdir ../s .github/second
for who in ann bob eve; do "$WARDFS" token key ../s/$who >../s/$who.pub; done
write='echo more >>.github/workflows/ci'
# approvers N WHO...: the policy demands N signatures, and names these keys.
approvers() {
	{
		sed '/^\[approvals\]/,$d' ../ask.policy
		printf '[approvals]\ntimeout = 300s\napprovers = %s\n' "$1"
		shift
		for who in "$@"; do echo "approver = $(cat "../s/$who.pub")"; done
	} >../new
	mv ../new ../ask.policy
}
# sign WHO FILE ANSWER...: signs an answer to ../s/q.json.
sign() {
	who=$1 file=$2
	shift 2
	rm -f "../s/$file"
	"$WARDFS" approve sign ../s/q.json --key "../s/$who" -o "../s/$file" "$@" >../s/shown
}
# asks NAME: its question, in ../s/q.json.
asks() {
	question "$1"
	"$WARDFS" approve --json "$Q" >../s/q.json
}
hand() { "$WARDFS" approve "$Q" --signed "$@"; }

echo '--- control: one signed answer of one approver'
approvers 1 ann
begin one sh -c "$write"
asks one
expect 0 sign ann a once
grep -q "you sign:   once, good until" ../s/shown || fail "$(cat ../s/shown)"
grep -q "open /workspace/.github/workflows/ci" ../s/shown || fail "$(cat ../s/shown)"
expect 0 python3 "$second" show ../s/a
has "$OUT" '"answer": "once"'
expect 0 "$WARDFS" approve "$Q"
has "$OUT" 'it takes 1 signed answer (wardfs approve sign), and 0 came'
expect 0 hand ../s/a
has "$ERR" "$Q: granted, grant g"
end 0 one
cp ../s/a ../s/yesterday
grep -q "It takes signed answers: wardfs approve sign; wardfs approve $Q no\$" ../one.err || fail "$(cat ../one.err)"
grep -q 'yes|once' ../one.err && fail "$(cat ../one.err)"
name=$(cut -d+ -f1 ../s/ann.pub)
"$WARDFS" audit show --json --kind answer one | grep -q "\"key\":\"$name\"" || fail "the record does not name the key"
"$WARDFS" audit approvals one | grep -q ", key $name" || fail "$("$WARDFS" audit approvals one)"
expect 0 "$WARDFS" audit verify one

echo '--- unsigned yes, by every way: refused by name; the question waits on'
begin un sh -c "$write"
asks un
for answer in yes once 'for 10m' "pattern /workspace/.github/**"; do
	# shellcheck disable=SC2086 # several words
	refused "approvers = 1' takes signed answers here" "$WARDFS" approve "$Q" $answer
done
refused "'always' cannot be signed" "$WARDFS" approve "$Q" always
refused 'takes signatures, and this grant has none' "$WARDFS" grant un write '/workspace/.github/**'
python3 "$WARD_SRC/tests/cases/run/lib/approve-send.py" "$XDG_RUNTIME_DIR/wardfs/un/control" "$Q" \
	"$(member un 'q["digest"]')" path >../sent
grep -q 'takes signed answers here' ../sent || fail "$(cat ../sent)"

echo '--- answers that do not count: each beside a control that differs in this alone'
sign ann good once
cp ../s/q.json ../s/keep
refused 'is to another session' hand ../s/yesterday
sign eve unknown once
refused "names the key $(cut -d+ -f1 ../s/eve.pub)" hand ../s/unknown
sign ann late once --valid 1s
sleep 2
refused 'was good until' hand ../s/late
# Changed on the way: no byte of what is signed, nor of the signature, can be another.
for change in 's/"once"/"path"/' 's/"answer":"once"/"answer":"for","seconds":600/' 's/"rights":"/"rights":"x/' \
	's/"until":1/"until":2/' 's/,"until"/ ,"until"/' 's/^wardfs-answer 1/wardfs-answer 2/' 's/ci"/cj"/' \
	'3s/[A-Za-z]==$/A==/;3s/ \(.\)/ \1/2;3s/ ..\(.*\) ../ wa\1 AA/' '3d' '$a more'; do
	sed "$change" ../s/good >../s/changed
	expect 1 hand ../s/changed
	expect 1 python3 "$second" show ../s/changed
done
[ "$(member un 'q["question"]')" = "$Q" ] || fail "the question is gone"
# Signed by an approver, but not what was asked: another session, digest, path, rights.
for change in 's/"session": *"un"/"session":"other"/' 's/"ino": *\([0-9]*\)/"ino":1\1/' 's/ci"/cj"/' \
	's/"rights": *"/"rights":"remove,/' 's/"pid": *\([0-9]*\)/"pid":1\1/'; do
	sed "$change" ../s/keep >../s/forged
	cmp -s ../s/forged ../s/keep && fail "$change changes nothing"
	python3 "$WARD_SRC/tests/cases/run/lib/approve-redigest.py" ../s/forged >../s/q.json
	sign ann forged.answer once
	expect 0 python3 "$second" show ../s/forged.answer
	refused 'the signed answer is ' hand ../s/forged.answer
	# And the question itself cannot be changed without it showing.
	expect 1 "$WARDFS" approve sign ../s/forged
	has "$ERR" 'it was changed on its way'
done
cp ../s/keep ../s/q.json
python3 -c 'import sys; print(open(sys.argv[1]).read().replace("sh", "s\\u001b[2Jh"))' ../s/keep >../s/forged
expect 1 "$WARDFS" approve sign ../s/forged
has "$ERR" 'this is not one question'
expect 0 "$WARDFS" approve sign - <../s/keep

echo '--- no needs no signature; the control of the answer that was good all the time'
expect 0 hand ../s/good
end 0 un
begin no sh -c "$write"
question no
expect 0 "$WARDFS" approve "$Q" no
end 2 no

echo '--- signed for one question, and handed in for another of the same session'
echo one >.github/second/cd
begin both sh -c "echo more >>.github/second/cd & $write; wait"
has_two() { [ "$("$WARDFS" approve --json --session both | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" = 2 ]; }
wait_until 30 has_two || fail "$("$WARDFS" approve)"
# of FILE: the name of the question about it.
of() { "$WARDFS" approve --json --session both | python3 -c 'import json, sys
print(next(q["question"] for q in json.load(sys.stdin) if q["path"].endswith(sys.argv[1])))' "$1"; }
first=$(of /cd) Q=$(of /ci)
for q in "$first" "$Q"; do
	"$WARDFS" approve --json "$q" >../s/q.json
	sign ann "to-$q" once
done
refused 'is to another question' hand "../s/to-$first"
[ "$(of /ci)" = "$Q" ] || fail "the question is gone"
expect 0 hand "../s/to-$Q"
Q=$first
expect 0 hand "../s/to-$Q"
end 0 both

echo '--- a name that is not ASCII: both implementations have the digest'
name=$(printf 'caf\303\251 \360\237\230\200')
echo one >".github/workflows/$name"
begin spelled sh -c "echo more >>'.github/workflows/$name'"
asks spelled
grep -q 'u00E9' ../s/q.json || fail "control: no such name: $(cat ../s/q.json)"
digest() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["digest"])' "$1"; }
python3 "$WARD_SRC/tests/cases/run/lib/approve-redigest.py" ../s/q.json >../s/again
[ "$(digest ../s/q.json)" = "$(digest ../s/again)" ] || fail "$(cat ../s/q.json) $(cat ../s/again)"
sign ann a path
expect 0 hand ../s/a
end 0 spelled
expect 0 "$WARDFS" audit verify spelled

echo '--- two approvers: one of them is not enough, and twice the same is one'
approvers 2 ann bob
begin two sh -c "$write"
asks two
sign ann a for 10m
sign ann again for 10m
sign bob b for 10m
sign bob other for 20m
sign bob wider pattern '/workspace/.github/**'
refused "has signed this answer already" hand ../s/a --signed ../s/again
expect 0 hand ../s/a
has "$ERR" "$Q: 1 of 2 approvers have answered"
[ "$(member two 'q["signed"], q["approvers"]')" = "(1, 2)" ] || fail "$(member two q)"
expect 0 "$WARDFS" approve "$Q"
has "$OUT" 'it takes 2 signed answers (wardfs approve sign), and 1 came'
refused "has signed this answer already" hand ../s/again
for b in other wider; do refused 'signed different answers' hand ../s/$b; done
kill -0 "$RUN" || fail "it did not wait"
expect 0 "$WARDFS" token make --key ../s/ann --session two --for 1h -o ../s/token write '/workspace/.github/**'
refused 'takes more signatures than a token has' "$WARDFS" grant two --token ../s/token
expect 0 hand ../s/b
end 0 two
"$WARDFS" audit show --json --kind answer two >../answer
python3 - ../answer <<'P' || fail "$(cat ../answer)"
import json, sys
r = json.loads(open(sys.argv[1]).readline())
assert len(r["detail"]["signed"]) == 2 and len(r["key"].split()) == 2 and r["scope"] == "for", r
P
expect 0 "$WARDFS" audit verify two

echo '--- a refused answer leaves no signature behind: the next one counts'
cr=$(printf 'odd\rname')
echo one >".github/workflows/$cr"
begin odd sh -c "echo more >>'.github/workflows/$cr'"
asks odd
for who in ann bob; do
	sign $who $who.path path
	sign $who $who.far pattern '/workspace/src/**'
	sign $who $who.near pattern '/workspace/.github/workflows/odd?name'
done
for answer in path far; do
	reason='has a control character'
	[ $answer = path ] || reason='does not cover'
	expect 0 hand ../s/ann.$answer
	refused "$reason" hand ../s/bob.$answer
	[ "$(member odd 'q["signed"], q["approvers"]')" = "(0, 2)" ] || fail "$(member odd q)"
done
expect 0 hand ../s/ann.near --signed ../s/bob.near
end 0 odd
expect 0 "$WARDFS" audit verify odd
rm ".github/workflows/$cr"

echo '--- a question that another answer covers keeps no signature of its own'
begin covered sh -c "echo more >>.github/second/cd & $write; wait"
has_two() { [ "$("$WARDFS" approve --json --session covered | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" = 2 ]; }
wait_until 30 has_two || fail "$("$WARDFS" approve)"
"$WARDFS" approve --json --session covered >../all
for q in cd ci; do python3 -c 'import json, sys
print(json.dumps(next(q for q in json.load(open(sys.argv[1])) if q["path"].endswith(sys.argv[2]))))' ../all /$q >../s/$q.json; done
cp ../s/cd.json ../s/q.json
Q=$(python3 -c 'import json; print(json.load(open("../s/q.json"))["question"])')
sign ann cd.ann once
expect 0 hand ../s/cd.ann
cp ../s/ci.json ../s/q.json
Q=$(python3 -c 'import json; print(json.load(open("../s/q.json"))["question"])')
for who in ann bob; do sign $who ci.$who pattern '/workspace/.github/**'; done
expect 0 hand ../s/ci.ann --signed ../s/ci.bob
end 0 covered
[ "$("$WARDFS" audit show --json --kind answer covered | grep -c '"result":"granted"')" = 2 ] || fail "control: both are answered"
expect 0 "$WARDFS" audit verify covered

echo '--- signatures of the time before a reload that demands none'
begin reloaded sh -c "$write"
asks reloaded
sign ann a once
expect 0 hand ../s/a
approvers 0
expect 0 "$WARDFS" policy reload reloaded ../ask.policy
expect 0 "$WARDFS" approve "$Q" path
end 0 reloaded
expect 0 "$WARDFS" audit verify reloaded
approvers 2 ann bob

echo '--- an answer on its way ends the question, also when its time is over meanwhile'
sed 's/^timeout = .*/timeout = 3s/' ../ask.policy >../new
mv ../new ../ask.policy
approvers_none() { sed '/^approvers = /d' ../ask.policy >../new && mv ../new ../ask.policy; }
approvers_none
begin race sh -c "$write || sleep 2; $write"
question race
fs=$(python3 "$WARD_SRC/tests/cases/run/lib/approve-helper.py" "$RUN" wardfs-fs)
kill -STOP "$fs"
"$WARDFS" approve "$Q" path >../race.answer 2>&1 &
answering=$!
sleep 4
kill -CONT "$fs"
wait $answering || fail "$(cat ../race.answer)"
end 0 race
"$WARDFS" audit show --json --kind answer race >../answer
[ "$(wc -l <../answer)" = 1 ] && grep -q '"result":"granted"' ../answer || fail "$(cat ../answer)"
expect 0 "$WARDFS" audit verify race
approvers 2 ann bob

echo '--- one key under two names is one signer'
python3 - ../s/ann.pub >../s/ann2.pub <<'P'
import base64, struct, sys
raw = base64.b64decode(open(sys.argv[1]).read().strip().split("+", 2)[2])[1:]
blob = b"".join(struct.pack(">I", len(s)) + s for s in (b"ssh-ed25519", raw))
print("ssh-ed25519", base64.b64encode(blob).decode())
P
python3 "$WARD_SRC/tests/cases/run/lib/approve-ssh-key.py" ../s/ann ../s/ann.ssh
approvers 2 ann ann2 bob
begin same sh -c "$write"
asks same
sign ann a once
"$WARDFS" approve sign ../s/q.json --unsigned -o ../s/a2 once >../s/shown
ssh-keygen -q -Y sign -n wardfs-answer -f ../s/ann.ssh ../s/a2
expect 0 hand ../s/a
refused 'has signed this answer already' hand ../s/a2
sign bob b once
expect 0 hand ../s/b
end 0 same

echo '--- an empty pattern is none'
begin empty sh -c "$write"
asks empty
"$WARDFS" approve sign ../s/q.json --unsigned -o ../s/e for 10m >../s/shown
sed 's/"seconds"/"pattern":"","seconds"/' ../s/e >../s/e.pattern
for f in e e.pattern; do
	ssh-keygen -q -Y sign -n wardfs-answer -f ../s/ann.ssh ../s/$f
	cat ../s/$f ../s/$f.sig >../s/$f.whole
done
refused 'cannot be understood' hand ../s/e.pattern
expect 1 python3 "$second" show ../s/e.pattern.whole
expect 0 python3 "$second" show ../s/e.whole
expect 0 hand ../s/e
expect 0 "$WARDFS" approve "$Q" no
end 2 empty

echo '--- OpenSSH: ssh-ed25519, and a key on a token'
ssh-keygen -q -t ed25519 -N '' -C 'somebody @ home' -f ../s/ssh
ssh-keygen -q -t ed25519 -N '' -f ../s/foreign
python3 "$second" token ../s/sk >../s/sk.pub
approvers 2 ssh sk
begin ssh sh -c "$write"
asks ssh
for f in one two; do "$WARDFS" approve sign ../s/q.json --unsigned -o ../s/$f path >../s/shown; done
refused 'two.sig' hand ../s/two
ssh-keygen -q -Y sign -n file -f ../s/ssh ../s/one
refused "the SSH signature is for another namespace" hand ../s/one
rm ../s/one.sig
ssh-keygen -q -Y sign -n wardfs-answer -f ../s/foreign ../s/one
refused "names the key SHA256:" hand ../s/one
rm ../s/one.sig
ssh-keygen -q -Y sign -n wardfs-answer -f ../s/ssh ../s/one
python3 "$second" touch ../s/sk ../s/two 0 >../s/two.sig
refused 'nobody touched the token' hand ../s/two
"$WARDFS" approve sign ../s/q.json --unsigned -o ../s/three once >../s/shown
python3 "$second" touch ../s/sk ../s/three 1 >../s/two.sig
refused 'does not fit' hand ../s/two
python3 "$second" touch ../s/sk ../s/two 1 >../s/two.sig
ssh-keygen -q -Y check-novalidate -n wardfs-answer -s ../s/two.sig <../s/two >/dev/null || fail "OpenSSH does not take our token's signature"
for f in one two; do
	cat ../s/$f ../s/$f.sig >../s/$f.whole
	expect 0 python3 "$second" show ../s/$f.whole
	sed 's/"path","until"/"once","until"/' ../s/$f.whole >../s/changed
	refused 'does not fit' hand ../s/changed
	expect 1 python3 "$second" show ../s/changed
done
expect 0 hand ../s/one --signed ../s/two
end 0 ssh
expect 0 "$WARDFS" audit verify ssh

echo '--- a key that OpenSSH makes and uses on a token, which a library stands for'
SSH_SK_PROVIDER=$WARD_BUILD/tests/support/sk_provider.so
export SSH_SK_PROVIDER
if ssh-keygen -q -t ed25519-sk -N '' -O application=ssh:wardfs -f ../s/real </dev/null 2>../s/enrolled; then
	approvers 1 real
	begin real sh -c "$write"
	asks real
	"$WARDFS" approve sign ../s/q.json --unsigned -o ../s/real1 path >../s/shown
	rm -f ../s/real1.sig
	# Neither touched nor verified; verified alone.
	for flags in 0 4; do
		SK_FLAGS=$flags ssh-keygen -q -Y sign -n wardfs-answer -f ../s/real ../s/real1 2>../s/signed
		refused 'nobody touched the token' hand ../s/real1
		rm ../s/real1.sig
	done
	SK_FLAGS=5 ssh-keygen -q -Y sign -n wardfs-answer -f ../s/real ../s/real1 2>../s/signed
	cat ../s/real1 ../s/real1.sig >../s/real1.whole
	expect 0 python3 "$second" show ../s/real1.whole
	sed 's/"path","until"/"once","until"/' ../s/real1.whole >../s/changed
	refused 'does not fit' hand ../s/changed
	expect 0 hand ../s/real1
	end 0 real
	expect 0 "$WARDFS" audit verify real
else
	# An OpenSSH that is built without tokens.
	echo "no token: $(cat ../s/enrolled)"
fi
unset SSH_SK_PROVIDER

echo '--- the floor and the project raise the number, and nobody lowers it'
approvers 1 ann
printf '[policy]\nversion = 1\n[approvals]\napprovers = 2\n' >.wardfs.policy
begin raised sh -c "$write"
asks raised
sign ann a once
expect 0 hand ../s/a
has "$ERR" '1 of 2'
expect 0 "$WARDFS" approve "$Q" no
end 2 raised
printf '[policy]\nversion = 1\n[approvals]\napprovers = 0\n' >.wardfs.policy
begin lowered sh -c "$write"
asks lowered
refused "approvers = 1' takes signed answers" "$WARDFS" approve "$Q" once
expect 0 "$WARDFS" approve "$Q" no
end 2 lowered
rm .wardfs.policy

echo '--- the hook of [approvals] command cannot answer without signatures'
mkdir ../hooks
chmod 755 "$WARD_TMP" ../hooks
# hook LINE...: a script that begins with these lines, and writes its number to ../hooks/pid.
hook() {
	{
		printf '#!/bin/sh\necho $$ >"%s/hooks/pid"\n' "$WARD_TMP"
		printf '%s\n' "$@"
	} >../hooks/new
	chmod 755 ../hooks/new
	mv ../hooks/new ../hooks/hook
	for f in pid q.json; do : >../hooks/$f; done
	chmod 666 ../hooks/pid ../hooks/q.json
}
# hook_ended: wardfs has taken what it wrote, as it does before it waits for the process.
hook_ended() { [ -s ../hooks/pid ] && ! kill -0 "$(cat ../hooks/pid)" 2>/dev/null; }
hook "exec python3 '$WARD_SRC/tests/cases/run/lib/approve-hook.py' once"
echo "command = $WARD_TMP/hooks/hook" >>../ask.policy
begin hook sh -c "$write"
asks hook
wait_until 30 hook_ended || fail "the hook does not end"
[ "$(member hook 'q["question"], q["waits"]')" = "('$Q', True)" ] || fail "$(member hook q)"
sign ann a once
expect 0 hand ../s/a
end 0 hook
"$WARDFS" audit approvals hook | grep -q 'by approve, key' || fail "$("$WARDFS" audit approvals hook)"

echo '--- and can with them: each beside one of a key that is not named'
for who in eve ann; do
	rm -f ../hooks/signed
	hook "cat >'$WARD_TMP/hooks/q.json'" "until [ -e '$WARD_TMP/hooks/signed' ]; do sleep 0.1; done" \
		"cat '$WARD_TMP/hooks/signed'"
	begin with-$who sh -c "$write"
	asks with-$who
	wait_until 30 test -s ../hooks/q.json || fail "the hook has no question"
	cp ../hooks/q.json ../s/q.json
	sign $who a once
	python3 -c 'import json, sys
json.dump({"question": sys.argv[1], "signed": [open(sys.argv[2]).read()]}, sys.stdout)' "$Q" ../s/a >../hooks/part
	chmod 644 ../hooks/part
	mv ../hooks/part ../hooks/signed
	wait_until 30 hook_ended || fail "the hook does not end"
	if [ $who = eve ]; then
		[ "$(member with-eve 'q["question"], q["waits"]')" = "('$Q', True)" ] || fail "$(member with-eve q)"
		expect 0 "$WARDFS" approve "$Q" no
		end 2 with-eve
	else
		end 0 with-ann
	fi
done
"$WARDFS" audit approvals with-ann | grep -q 'by command, key' || fail "$("$WARDFS" audit approvals with-ann)"
expect 0 "$WARDFS" audit verify with-ann

echo '--- the test vector of docs/approvals.md, by both implementations'
sed -n '/^### A test vector/,/^It says/s/^    //p' "$WARD_SRC/docs/approvals.md" | python3 "$WARD_SRC/tests/cases/run/lib/approve-vector.py" >../vector
expect 0 python3 "$second" show ../vector
has "$OUT" '"question": "k7m2xq"'
