#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs review sign, and apply --require-sign: this change, tested so, by whom. Each attack on a
# signature has a control. tests/support/signed_answers.py and ssh-keygen are the second opinions.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

keys=$WARD_TMP/keys
mkdir -p "$keys" "$XDG_CONFIG_HOME/wardfs/projects"
owner=$XDG_CONFIG_HOME/wardfs/projects/$(echo "$PROJECT" | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy
for who in ann bob eve; do "$WARDFS" token key "$keys/$who" >"$keys/$who.pub"; done
ssh-keygen -q -t ed25519 -N '' -C '' -f "$keys/sue"
# approvers N WHO...: the policy demands N signatures, and names these keys.
approvers() {
	{
		printf '[policy]\nversion = 1\nextends = medium\n[approvals]\napprovers = %s\n' "$1"
		shift
		for who in "$@"; do echo "approver = $(cat "$keys/$who.pub")"; done
		printf '[guard]\nask = /workspace/asked\n'
	} >"$owner"
}
unapplied() {
	before=$(whole)
	expect 1 "$WARDFS" review apply "$@"
	[ "$(whole)" = "$before" ] || fail "apply $* was refused and changed the project"
}
staged() {
	fresh
	echo old >asked
	chown --reference=. asked
	expect 0 "$WARDFS" run --review -s "$1" -- sh -c 'echo new >>changed'
}

echo '--- control: a signature of one approver covers the change and its checks'
approvers 0 ann sue
staged one
unapplied --require-sign
has "$ERR" '0 of 1 signatures of approvers came: wardfs review sign --key KEY'
expect 0 "$WARDFS" review check -- grep -q new changed
expect 0 "$WARDFS" review sign --key "$keys/ann"
has "$OUT" "check 'grep -q new changed': status 0" 'signed by wardfs/'
expect 0 "$WARDFS" review apply --dry-run --require-sign --require-check

echo '--- checks that the signature does not cover'
expect 0 "$WARDFS" review check -- test -e d
unapplied --require-sign --require-check='test -e d'
has "$ERR" 'signed other checks than those that count'
expect 0 "$WARDFS" review apply --dry-run --require-sign --require-check='grep -q new changed'

echo '--- a key that no approver has; a key whose approver is gone'
expect 1 "$WARDFS" review sign --key "$keys/eve"
has "$ERR" "names the key wardfs/"
approvers 0 sue
unapplied --require-sign
approvers 0 ann sue
expect 0 "$WARDFS" review apply --dry-run --require-sign

echo '--- two approvers: one key does not count twice; an SSH key by ssh-keygen'
approvers 2 ann sue
expect 0 "$WARDFS" review sign --key "$keys/ann"
unapplied --require-sign
has "$ERR" '1 of 2 signatures of approvers came'
expect 0 "$WARDFS" review sign -o "$keys/text"
[ "$(head -1 "$keys/text")" = 'wardfs-change 1' ] || fail "$(cat "$keys/text")"
ssh-keygen -q -Y sign -n wardfs-answer -f "$keys/sue" "$keys/text" 2>/dev/null
expect 1 "$WARDFS" review sign --signed "$keys/text"
rm "$keys/text.sig"
ssh-keygen -q -Y sign -n wardfs-change -f "$keys/sue" "$keys/text" 2>/dev/null
expect 0 "$WARDFS" review sign --signed "$keys/text"
has "$OUT" 'signed by SHA256:'
expect 0 "$WARDFS" review apply --dry-run --require-sign --require-check

echo '--- a signature over other content: any byte of what was signed; another session, other changes'
python3 - "$keys/text" "$keys/forged" <<'END'
import sys
text = open(sys.argv[1]).read()
assert '"result":0' in text and '"command":["grep"' in text
open(sys.argv[2], "w").write(text.replace('"result":0', '"result":1'))
open(sys.argv[2] + ".sig", "w").write(open(sys.argv[1] + ".sig").read())
END
expect 1 "$WARDFS" review sign --signed "$keys/forged"
has "$ERR" 'does not fit'
expect 0 "$WARDFS" review apply
staged two
unapplied --require-sign
expect 1 "$WARDFS" review sign --signed "$keys/text"
has "$ERR" 'the signature is to another session'
cp "$XDG_STATE_HOME"/wardfs/sessions/one/review.* "$XDG_STATE_HOME/wardfs/sessions/two/"
unapplied --require-sign
has "$ERR" '0 of 2 signatures'
approvers 1 ann
expect 0 "$WARDFS" review sign -o "$keys/two"
expect 0 "$WARDFS" review sign --key "$keys/ann"
expect 0 "$WARDFS" review apply --dry-run --require-sign
object=$(grep -ls '^new$' "$XDG_STATE_HOME"/wardfs/reviews/two/objects/* 2>/dev/null | head -1)
echo more >>"$object"
unapplied --require-sign
ssh-keygen -q -Y sign -n wardfs-change -f "$keys/sue" "$keys/two" 2>/dev/null
expect 1 "$WARDFS" review sign --signed "$keys/two"
has "$ERR" 'the signature is to other changes'
sed -i '$d' "$object"

echo '--- what an ask rule covers takes a signature where answers take one, whatever is named'
staged three
expect 0 "$WARDFS" run --review -s three -- sh -c 'echo new >>asked; echo new >>changed'
session=$("$WARDFS" review | sed -n 's/^session \([^:]*\):.*/\1/p')
expect 1 "$WARDFS" review apply asked
has "$ERR" 'asked: not applied: 0 of 1 signatures of approvers came'
[ "$(cat asked)" = old ] || fail 'it was applied'
expect 0 "$WARDFS" review apply changed
approvers 0 ann
expect 0 "$WARDFS" review apply --dry-run asked
approvers 1 ann
expect 0 "$WARDFS" review sign "$session" --key "$keys/ann"
expect 0 "$WARDFS" review apply asked
[ "$(cat asked)" != old ] || fail 'it was not applied'

echo '--- [review] require-sign; usage; both verifiers'
staged four
sed -i 's/^\[guard\]/[review]\nrequire-sign = yes\n[guard]/' "$owner"
unapplied
expect 0 "$WARDFS" review sign --key "$keys/ann"
expect 0 "$WARDFS" review apply
expect 2 "$WARDFS" review sign
expect 2 "$WARDFS" review sign --key "$keys/ann" -o "$keys/x"
for s in one two three four; do
	"$WARDFS" audit verify "$s" >/dev/null || fail "$s is not intact"
done
python3 "$WARD_SRC/tests/support/verify.py" "$XDG_STATE_HOME/wardfs" four | grep -q '^four intact ' || fail 'the second verifier'
