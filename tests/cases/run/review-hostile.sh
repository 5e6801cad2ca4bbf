#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attacks on what is said and signed of staged changes: content that nobody signed, names that are
# control sequences or HTML, and changes of other trees and other content that `audit file` could
# take for the file's. Each attack has a control.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

keys=$WARD_TMP/keys
lib=$WARD_SRC/tests/cases/run/lib
mkdir -p "$keys" "$XDG_CONFIG_HOME/wardfs/projects"
owner=$XDG_CONFIG_HOME/wardfs/projects/$(echo "$PROJECT" | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy
"$WARDFS" token key "$keys/ann" >"$keys/ann.pub"
# approvers N: so many signatures are demanded of what `ask` covers.
approvers() {
	printf '[policy]\nversion = 1\nextends = medium\n[approvals]\napprovers = %s\napprover = %s\n' \
		"$1" "$(cat "$keys/ann.pub")" >"$owner"
	printf '[guard]\nask = /workspace/asked\nask = /workspace/held/**\n' >>"$owner"
}

echo '--- what the host changed meanwhile is not part of what was signed'
approvers 1
fresh
seq 30 >asked
own
expect 0 "$WARDFS" run --review -s merged -- sed -i s/^3$/three/ asked
expect 0 "$WARDFS" review sign --key "$keys/ann"
sed s/^20$/host/ asked >"$WARD_TMP/host" && cat "$WARD_TMP/host" >asked
before=$(whole)
expect 1 "$WARDFS" review apply --merge asked
has "$ERR" 'asked: not applied: '
has "$ERR" '--merge'
expect 1 "$WARDFS" review apply -s merged --interactive asked </dev/null
[ "$(whole)" = "$before" ] || fail "content that nobody signed was applied: $(whole)"
approvers 0
expect 0 "$WARDFS" review apply --merge asked
[ "$(sed -n '3p;20p' asked | tr '\n' ' ')" = 'three host ' ] || fail "control: $(cat asked)"
expect 0 "$WARDFS" audit file asked
has "$OUT" 'merged'
hasnt "$OUT" 'the file has the content that session merged staged'

echo '--- an ask rule covers what a directory has in it that is renamed, or that gets its name'
approvers 1
fresh
mkdir held free
echo old >held/x
echo evil >free/x
own
expect 0 "$WARDFS" run --review -s moved -- sh -c 'mv held gone2; mv free held'
"$WARDFS" review apply gone2 free held held/x >../out 2>../err && fail "applied: $(cat ../out)"
[ "$(cat held/x)" = old ] || fail "applied without a signature: $(cat ../err) $(whole)"
approvers 0
expect 0 "$WARDFS" review apply held/x
[ "$(cat held/x)" = evil ] || fail "control: $(whole)"

echo '--- a file of another tree is not the one of the project'
rm -f "$owner"
fresh
mkdir "$OUTSIDE/data"
echo old >"$OUTSIDE/data/f"
echo old >f
own
chown -R --reference="$PROJECT" "$OUTSIDE"
printf '[policy]\nversion = 1\nextends = medium\n[tree /data]\nsource = %s\n[files]\nwrite = /data\n' \
	"$OUTSIDE/data" >"$owner"
expect 0 "$WARDFS" run --review -s trees -- sh -c 'echo agent >/data/f'
expect 0 "$WARDFS" review apply
[ "$(cat "$OUTSIDE/data/f")" = agent ] || fail "control: $ERR"
echo agent >f
"$WARDFS" audit file f >../out 2>../err || :
! grep -q 'reviewed:\|staged' ../out || fail "a change of /data/f was told of f: $(cat ../out)"
expect 0 "$WARDFS" audit file /data/f
has "$OUT" 'applied from session trees'
rm "$owner"

echo '--- names'
fresh
expect 0 "$WARDFS" run --review -s names -- python3 - <"$lib/review-hostile-names.py"
expect 0 "$WARDFS" review
has "$OUT" 'A \x1b[2Jesc'
has "$OUT" 'script>'
for verb in 'review' 'review diff' 'review apply --dry-run' 'review apply' 'audit report names' 'audit report --format html names' \
	'review undo' 'audit file new\nline' 'audit report --format json names'; do
	# shellcheck disable=SC2086
	"$WARDFS" $verb >../out 2>../err || :
	python3 "$lib/review-hostile-printed.py" "$verb" ../out ../err || fail "$verb"
done

echo '--- a check that failed: without its record or its trail the one before it does not count again'
fresh
touch flag
expect 0 "$WARDFS" run --review -s again -- sh -c 'echo new >>changed'
expect 0 "$WARDFS" review check -- test -e flag
expect 0 "$WARDFS" review apply --dry-run --require-check='test -e flag'
rm flag
expect 1 "$WARDFS" review check -- test -e flag
touch flag
expect 1 "$WARDFS" review apply --dry-run --require-check='test -e flag'
has "$ERR" 'ended with status 1'
again=$XDG_STATE_HOME/wardfs/sessions/again/review.2
trail=$XDG_STATE_HOME/wardfs/sessions/$(sed -n 's/.*"session":"\([^"]*\)".*/\1/p' "$again")/trail.jsonl
cp "$again" "$WARD_TMP/again"
echo x >>"$again"
expect 1 "$WARDFS" review apply --dry-run --require-check='test -e flag'
cp "$WARD_TMP/again" "$again"
cp "$trail" "$WARD_TMP/trail"
echo x >>"$trail"
expect 1 "$WARDFS" review apply --dry-run --require-check='test -e flag'
cp "$WARD_TMP/trail" "$trail"
expect 0 "$WARDFS" review check -- test -e flag
expect 0 "$WARDFS" review apply --dry-run --require-check='test -e flag'

echo '--- a directory of the project that is removed with what is in it can be checked, too'
fresh
expect 0 "$WARDFS" run --review -s removed -- rm -r gone
expect 0 "$WARDFS" review check -- test ! -e gone
expect 0 "$WARDFS" review apply --require-check
[ ! -e gone ] || fail "not applied: $(whole)"

echo '--- as many changes as fill the list of a report do not push out what came of them'
rm -f "$owner"
fresh
expect 0 "$WARDFS" run --review -s many -- sh -c 'seq 5001 | xargs touch'
expect 0 "$WARDFS" review check -- test -e 5001
expect 0 "$WARDFS" review apply
expect 0 "$WARDFS" review undo
expect 0 "$WARDFS" audit report --format json many
python3 "$lib/review-hostile-rows.py" "$WARD_TMP/.out" || fail "the report"
