#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Extended attributes, hard links and permissions of directories at review: what a person approved
# is what comes. Each attack has a control.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"
fresh
setfattr -n user.probe -v x changed 2>/dev/null || skip "no attributes of user here"
setfattr -x user.probe changed
manifest() { "$WARDFS" review "$@" | sed -n 's/^manifest //p'; }
attribute() { getfattr --only-values -n "$2" "$1" 2>/dev/null || echo none; }

echo "--- attributes are in the manifest, and come along"
before=$(whole)
expect 0 "$WARDFS" run --review -s one -- sh -euc '
	echo new >>changed
	setfattr -n user.mark -v good changed
	mkdir made
	setfattr -n user.mark -v dir made
	echo no attributes >plain'
expect 0 "$WARDFS" review one
has "$OUT" "changed   (with attributes)" "made   (with attributes)"
hasnt "$OUT" "plain   (with attributes)"
expect 0 "$WARDFS" review diff --json changed
has "$OUT" '"attributes"'
shown=$(manifest one)
object=$(grep -rl 'user.mark' /dev/null "$XDG_STATE_HOME/wardfs/reviews/one/objects" 2>/dev/null || :)
[ -z "$object" ] || fail "the mark is content: $object"

echo "--- the digest by docs/audit-format.md"
mine() { python3 "$WARD_SRC/tests/cases/run/lib/review-attributes-manifest.py" "$XDG_STATE_HOME/wardfs/reviews/$1" "$PROJECT"; }
[ "$(mine one)" = "$shown" ] || fail "the manifest is not as it is documented"

echo "--- attack: an attribute that is changed after it was shown"
for o in "$XDG_STATE_HOME"/wardfs/reviews/one/objects/*; do
	[ "$(attribute "$o" user.mark)" != good ] || staged=$o
done
setfattr -n user.mark -v evil "$staged"
[ "$(manifest one)" != "$shown" ] || fail "the manifest does not cover attributes"
expect 125 "$WARDFS" review apply --manifest "$shown"
has "$ERR" "what is staged is not what --manifest says"
[ "$(whole)" = "$before" ] || fail "applied: $(whole)"
echo "--- control: as it was shown"
setfattr -n user.mark -v good "$staged"
expect 0 "$WARDFS" review apply --manifest "$shown"
[ "$(attribute changed user.mark)" = good ] && [ "$(attribute made user.mark)" = dir ] ||
	fail "the attributes did not come"
attributes=$("$WARDFS" review diff --json -s one changed | sed -n 's/.*"attributes": "\(.*\)".*/\1/p')
grep '"path":"changed"' "$XDG_STATE_HOME/wardfs/sessions/one/review.1" |
	grep -q "\"attributes\":\"$attributes\"" || fail "attributes are not in the record"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] && [ "$(attribute changed user.mark)" = none ] || fail "undo: $(whole)"

echo "--- attack: a hard link out of what a rule keeps, by way of a name that goes on"
fresh
mkdir gate
echo o >gate/o
own
expect 0 "$WARDFS" policy add ask gate
expect 0 "$WARDFS" run --review -s links -- sh -euc 'ln gate/o o2; mv o2 free; ln d/one p2; mv p2 plain'
expect 0 "$WARDFS" review links
has "$OUT" "! A gate/o -> free   (the policy asks about it)"
expect 1 "$WARDFS" review apply
[ ! -e free ] || fail "applied without being named"
echo "--- control: another file is linked so, and this one where it is named"
[ "$(stat -c %i plain)" = "$(stat -c %i d/one)" ] || fail "a link that no rule covers: $ERR"
expect 0 "$WARDFS" review apply free
[ "$(stat -c %i free)" = "$(stat -c %i gate/o)" ] || fail "named: $ERR"
expect 0 "$WARDFS" review undo
[ ! -e free ] && [ ! -e plain ] && [ "$(cat gate/o)" = o ] || fail "undo: $(whole)"
rm "$XDG_CONFIG_HOME"/wardfs/projects/*.policy
expect 0 "$WARDFS" policy add --guard read gate
expect 1 "$WARDFS" review apply free
has "$ERR" "today's policy refuses it"
[ ! -e free ] || fail "a guard of today"
rm "$XDG_CONFIG_HOME"/wardfs/projects/*.policy

echo "--- attack: another directory of the name, at an undo of permissions"
fresh
chmod 755 d
expect 0 "$WARDFS" run --review -s modes -- chmod 700 d
expect 0 "$WARDFS" review apply
[ "$(stat -c %a d)" = 700 ] || fail "permissions: $(stat -c %a d)"
mv d elsewhere
mkdir -m 700 d
own
expect 1 "$WARDFS" review undo
has "$ERR" "the project has another directory of this name"
[ "$(stat -c %a d)" = 700 ] || fail "the host's directory was opened"
echo "--- control: the very one"
rmdir d
mv elsewhere d
expect 0 "$WARDFS" review undo
[ "$(stat -c %a d)" = 755 ] || fail "not undone: $(stat -c %a d)"
