#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs review check, sign, and apply --require-check, --require-sign. Each attack on a check or a
# signature has a control: the same apply, or the same hand-in, with the genuine one.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

state=$XDG_STATE_HOME/wardfs
unapplied() {
	before=$(whole)
	expect 1 "$WARDFS" review apply "$@"
	[ "$(whole)" = "$before" ] || fail "apply $* was refused and changed the project"
}
# staged NAME: a session with a staged change of a Makefile's target.
staged() {
	fresh
	printf 'test:\n\t@grep -q new changed\n' >Makefile
	own
	expect 0 "$WARDFS" run --review -s "$1" -- sh -c 'echo new >>changed; echo x >added'
	manifest=$("$WARDFS" review | sed -n 's/^manifest //p')
}

echo '--- control: a command on the staged changes, its status, and what is recorded'
staged one
has "$OUT$ERR" 'nothing is in the project yet'
unapplied --require-check
has "$ERR" 'no check of exactly these changes counts: wardfs review check -- CMD'
expect 3 "$WARDFS" review check -- sh -c 'cat changed; test -e added && exit 3'
has "$OUT" new
unapplied --require-check
has "$ERR" "the check of 'sh -c" 'ended with status 3'
expect 0 "$WARDFS" review check one -- sh -c 'grep -q new changed'
expect 0 "$WARDFS" review apply --dry-run --require-check
expect 0 "$WARDFS" review apply --dry-run --require-check="sh -c 'grep -q new changed'"
# Of one command the last check counts.
expect 1 "$WARDFS" review check -s one -- test -e flag
unapplied --require-check='test -e flag'
has "$ERR" "the check of 'test -e flag' ended with status 1"
echo >flag
chown --reference=. flag
expect 0 "$WARDFS" review check -s one -- test -e flag
expect 0 "$WARDFS" review apply --dry-run --require-check='test -e flag' --require-check="sh -c 'grep -q new changed'"
unapplied --require-check=make
has "$ERR" "no check of 'make' on exactly these changes counts: wardfs review check -- make"
grep -q '"verb":"checked","manifest":"'"$manifest" "$state/ledger.jsonl" || fail 'no record'
check=$(sed -n 's/.*"session":"\([^"]*\)","trail".*/\1/p' "$state/sessions/one/review.2")
"$WARDFS" audit verify "$check" || fail "the trail of the check"
for s in one "$check"; do
	second=$(python3 "$WARD_SRC/tests/support/verify.py" "$state" "$s")
	case $second in "$s intact "*) ;; *) fail "the second verifier: $second" ;; esac
done

echo '--- the policy beside the trail is another one than the trail says'
staged policied
expect 0 "$WARDFS" review check -- true
expect 0 "$WARDFS" run --read src -s wider -- true
cp "$state/sessions/policied/policy" "$WARD_TMP/policy"
cmp -s "$WARD_TMP/policy" "$state/sessions/wider/policy" && fail 'both sessions had one policy'
cat "$state/sessions/wider/policy" >"$state/sessions/policied/policy"
expect 125 "$WARDFS" review check -- true
has "$ERR" 'the policy of session policied' 'not the one that the trail names'
cat "$WARD_TMP/policy" >"$state/sessions/policied/policy"
expect 0 "$WARDFS" review check -- true

echo '--- the check cannot change what is staged, nor the project'
staged two
before=$(whole)
expect 0 "$WARDFS" review check -- sh -c 'echo more >>changed; rm added untouched; mkdir -p .wardfs
	echo "{\"manifest\":\"'"$manifest"'\",\"command\":[\"true\"],\"result\":0}" | tee review.1 >review.2'
[ "$(whole)" = "$before" ] || fail 'the check changed the project'
[ "$("$WARDFS" review | sed -n 's/^manifest //p')" = "$manifest" ] || fail 'the check changed the staged files'
"$WARDFS" review diff added | grep -q '^+x' || fail 'a staged file is gone'

echo '--- forged: records in the project, and beside the trail; a check from inside'
staged three
cp "$WARDFS" wardfs
chown --reference=. wardfs
expect 0 "$WARDFS" run --review --from three -s control -- ./wardfs --version
expect 125 "$WARDFS" run --review --from three -s inside -- ./wardfs review check three -- true
has "$ERR" 'no session has run yet'
rm wardfs
forged='{"manifest":"'$manifest'","command":["true"],"result":0,"session":"three","trail":"'$manifest'"}'
echo "$forged" >review.1
chown --reference=. review.1
unapplied -s three --require-check
echo "$forged" >"$state/sessions/three/review.1"
unapplied -s three --require-check
has "$ERR" 'no check of exactly these changes counts'
cp "$state/ledger.jsonl" "$WARD_TMP/ledger"
seq=$(($(wc -l <"$state/ledger.jsonl") + 1))
printf '{"v":1,"seq":%s,"session":"three","kind":"review","time":"2026-01-01T00:00:00.000000000Z","verb":"checked","manifest":"%s","changes":2,"left":0,"file":1,"digest":"%s","by":0,"mac":"%064d"}\n' \
	"$seq" "$manifest" "$(sha256sum <"$state/sessions/three/review.1" | cut -d' ' -f1)" 0 >>"$state/ledger.jsonl"
"$WARDFS" review apply -s three --require-check >out 2>&1 && fail 'a forged entry counts'
grep -q 'the ledger is not intact' out || fail "$(cat out)"
rm -f out
cp "$WARD_TMP/ledger" "$state/ledger.jsonl"
rm "$state/sessions/three/review.1" review.1

echo '--- another manifest: what was staged is another file by now'
expect 0 "$WARDFS" review check three -- true
expect 0 "$WARDFS" review apply -s three --dry-run --require-check
object=$(grep -ls '^x$' "$state"/reviews/three/objects/* 2>/dev/null | head -1)
printf 'y\n' >"$object"
unapplied -s three --require-check
has "$ERR" 'no check of exactly these changes counts'
printf 'x\n' >"$object"
expect 0 "$WARDFS" review apply -s three --dry-run --require-check
expect 0 "$WARDFS" review discard -s three added
unapplied -s three --require-check
unapplied -s three --merge --require-check
has "$ERR" 'neither checked nor signed'

echo '--- a check whose session was changed afterwards; its record, too; and replayed for another'
staged four
expect 0 "$WARDFS" review check four -- true
file=$state/sessions/four/review.1
check=$(sed -n 's/.*"session":"\([^"]*\)","trail".*/\1/p' "$file")
trail=$state/sessions/$check/trail.jsonl
cp "$trail" "$WARD_TMP/trail"
sed -i '2s/"time":"2/"time":"1/' "$trail"
unapplied -s four --require-check
has "$ERR" "the trail of session $check is not intact"
cp "$WARD_TMP/trail" "$trail"
cp "$file" "$WARD_TMP/record"
sed -i 's/"true"/"make"/' "$file"
unapplied -s four --require-check
has "$ERR" 'is not the file that the ledger knows'
expect 1 "$WARDFS" audit verify four
has "$OUT$ERR" edited
! second=$(python3 "$WARD_SRC/tests/support/verify.py" "$state" four) || fail "the second verifier: $second"
case $second in "four edited "*) ;; *) fail "the second verifier: $second" ;; esac
cp "$WARD_TMP/record" "$file"
cp "$file" "$state/sessions/three/review.9"
unapplied -s three --require-check
expect 0 "$WARDFS" review apply -s four --require-check
[ "$(cat changed)" = "$(printf 'old changed\nnew')" ] || fail "not applied: $(cat changed)"

echo '--- what is staged changes while the check runs: it counts for nothing'
staged five
object=$(grep -ls '^x$' "$state"/reviews/five/objects/* 2>/dev/null | head -1)
"$WARDFS" review check five -- sh -c 'while ! test -e go; do sleep 0.1; done' >out 2>&1 &
pid=$!
until ls "$state"/running/* >/dev/null 2>&1; do sleep 0.1; done
printf 'y\n' >"$object"
echo >go
chown --reference=. go
rc=0
wait "$pid" || rc=$?
[ "$rc" = 125 ] || fail "exit $rc: $(cat out)"
grep -q 'has changed during the check' out || fail "$(cat out)"
printf 'x\n' >"$object"
unapplied -s five --require-check

echo '--- the policy of the session: what it hid is hidden from the check, unless --policy says else'
fresh
printf '[policy]\nversion = 1\nextends = medium\n[guard]\nhide = /workspace/untouched\n' >"$WARD_TMP/hides"
expect 0 "$WARDFS" run --policy "$WARD_TMP/hides" --review -s six -- sh -c 'echo new >>changed'
expect 1 "$WARDFS" review check -- test -e untouched
expect 0 "$WARDFS" review check --policy medium -- test -e untouched

echo '--- [review] require-check, in a policy or the floor: without the option'
staged seven
config=$XDG_CONFIG_HOME/wardfs/projects
mkdir -p "$config"
owner=$config/$(echo "$PROJECT" | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy
printf '[policy]\nversion = 1\nextends = medium\n[review]\nrequire-check = yes\n' >"$owner"
unapplied
has "$ERR" 'no check of exactly these changes counts'
expect 1 "$WARDFS" review check -- false
unapplied
expect 0 "$WARDFS" review check -- true
expect 0 "$WARDFS" review apply
rm "$owner"

echo '--- usage'
expect 2 "$WARDFS" review check
expect 2 "$WARDFS" review check --
expect 2 "$WARDFS" review diff --require-check
expect 2 "$WARDFS" review apply --policy medium
expect 127 "$WARDFS" review check seven -- no-such-program
