#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs profile lists profiles with their purpose, and prints them as written and as expanded. A
# user's policy that extends a profile means what the profile means, repositories included.
set -eu
. "$WARD_SRC/tests/lib.sh"
project "$HOME/proj"
cd "$HOME/proj" || exit 1

# Every shipped profile is listed, with a purpose, and passes the strict check.
expect 0 "$WARDFS" profile list --json
printf '%s' "$OUT" >list.json
names=$(python3 "$WARD_SRC/tests/cases/policy/lib/profile-list.py") || fail "list --json"
for one in "$WARD_SRC"/conf/profiles/*.policy; do
	one=${one##*/}
	echo "$names" | grep -qx "${one%.policy}" || fail "${one%.policy} is not listed"
done
expect 0 "$WARDFS" profile list
has "$OUT" "uses medium (the default)."

for name in $names; do
	expect 0 "$WARDFS" profile show "$name"
	has "$OUT" "; $name: "
	# A sentence behind the first line of each key, no sentence twice, and the lines are as they
	# were.
	echo "$OUT" >shown
	awk '/^\[/ {s = $1} /^[a-z-]* *=/ && !seen[s $1]++ && !/ ; *[^ ]/ {print; bad = 1} END {exit bad}' shown >silent ||
		fail "$name: a key that is not explained: $(cat silent)"
	twice=$(sed -n 's/^[a-z-]* *=.* ; *\([A-Z].*\.\)$/\1/p' shown | sort | uniq -d)
	[ -z "$twice" ] || fail "$name: said twice: $twice"
	[ "$(grep -c '^[a-z-]* *=' shown)" -gt 5 ] || fail "control: $name has no lines"
	expect 0 "$WARDFS" profile show --json "$name"
	printf '%s' "$OUT" | python3 "$WARD_SRC/tests/cases/policy/lib/profile-lines.py" shown || fail "$name: other lines"
	expect 0 "$WARDFS" profile show --resolved "$name"
	hasnt "$OUT" "; $name: "
	has "$OUT" "[tree /workspace]"
	# One's own: the same meaning here, in either way.
	expect 0 "$WARDFS" profile export "$name" -o "own-$name.policy"
	expect 0 "$WARDFS" profile export --whole "$name" -o "whole-$name.policy"
	expect 0 "$WARDFS" policy show --policy "$name"
	meant=$(printf '%s\n' "$OUT" | grep -v '^; digest')
	for file in "own-$name.policy" "whole-$name.policy"; do
		expect 0 "$WARDFS" policy show --policy "$file"
		[ "$(printf '%s\n' "$OUT" | grep -v '^; digest')" = "$meant" ] ||
			fail "$file means something else: $OUT"
	done
done
# The lines are those that messages name.
line=$("$WARDFS" profile show medium | grep -n '^secret = id_rsa$')
touch id_rsa
expect 1 "$WARDFS" policy explain read /workspace/id_rsa
has "$OUT" "medium:${line%%:*}"
has "$OUT" "(wardfs profile show medium:${line%%:*})"
# Each command that is printed prints its line, also one that the start added for a repository.
shown() {
	place=$(printf '%s\n' "$OUT" | sed -n 's/.*(wardfs profile show \(medium:[0-9]*\))$/\1/p')
	expect 0 "$WARDFS" profile show "$place"
	[ "$OUT" = "$1" ] || fail "$place: $OUT"
}
shown "[guard]
secret = id_rsa"
expect 1 "$WARDFS" policy explain write /workspace/.git/config
[ "$("$WARDFS" profile show medium | wc -l)" -lt "$(printf '%s\n' "$OUT" | sed -n 's/.*show medium:\([0-9]*\))$/\1/p')" ] ||
	fail "control: the guard of .git/config is a line of the profile itself: $OUT"
shown "[guard]
read = /workspace/.git/config"
expect 2 "$WARDFS" run -- sh -c 'echo >.git/config'
expect 0 "$WARDFS" audit denials
printf '%s\n' "$OUT" | grep -q 'rule: .*(base)  (wardfs profile show medium:[0-9]*)$' || fail "no command: $OUT"
expect 2 "$WARDFS" profile show medium:99999
has "$ERR" "has no line 99999"
expect 2 "$WARDFS" profile show medium:1x
has "$ERR" "'1x' is not the number of a line"

# A profile that extends another goes on looking for repositories. An exported whole says that it
# does not, and does not.
git init -q later
expect 0 "$WARDFS" policy explain --policy whole-medium.policy write /workspace/later/.git/config
expect 1 "$WARDFS" policy explain --policy own-medium.policy write /workspace/later/.git/config
grep -q "does not look for them again" whole-medium.policy || fail "the whole does not say so"
# control: what was there is guarded in both
expect 1 "$WARDFS" policy explain --policy whole-medium.policy write /workspace/.git/config

# A file that is there is not replaced; on stdout it is the same text.
echo mine >mine.policy
expect 2 "$WARDFS" profile export medium -o mine.policy
has "$ERR" "exists already"
[ "$(cat mine.policy)" = mine ] || fail "replaced"
expect 0 "$WARDFS" profile export medium
[ "$OUT" = "$(cat own-medium.policy)" ] || fail "stdout differs from the file"
expect 0 "$WARDFS" profile export --force medium -o mine.policy
cmp -s mine.policy own-medium.policy || fail "--force did not replace it"
expect 0 "$WARDFS" profile export medium --json
printf '%s' "$OUT" | python3 -c '
import json, sys
o = json.load(sys.stdin)
assert o["extends"] is True and o["file"] is None, o
assert o["text"].rstrip("\n") == open("own-medium.policy").read().rstrip("\n")' || fail "export --json"

# The exported file runs; a wrong name is told with the right one.
expect 0 "$WARDFS" run --policy own-medium.policy -- true
expect 2 "$WARDFS" profile show medum
has "$ERR" "did you mean medium?"
expect 2 "$WARDFS" profile show
has "$ERR" "name a profile: "
expect 2 "$WARDFS" profile show ./own-medium.policy
has "$ERR" "wardfs policy show --policy FILE"
expect 2 "$WARDFS" profile list medium

# A file of one's own for the project is what holds here, also one that does not load.
expect 0 "$WARDFS" policy add read /workspace/docs
expect 0 "$WARDFS" profile list
has "$OUT" "(your file for this project)."
expect 0 "$WARDFS" profile list --json
printf '%s' "$OUT" | python3 -c '
import json, sys
assert "/wardfs/projects/" in json.load(sys.stdin)["here"]' || fail "here"
exit 0
