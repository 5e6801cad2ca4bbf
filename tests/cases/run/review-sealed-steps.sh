#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SESSION@STEP: a step of a session that has ended is shown, checked, signed and applied as its end
# is. What the session did later is in none of that. Each refusal has a control.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

state=$XDG_STATE_HOME/wardfs
keys=$WARD_TMP/keys
mkdir -p "$keys" "$XDG_CONFIG_HOME/wardfs/projects"
owner=$XDG_CONFIG_HOME/wardfs/projects/$(echo "$PROJECT" | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy
"$WARDFS" token key "$keys/ann" >"$keys/ann.pub"
printf '[policy]\nversion = 1\nextends = medium\n[approvals]\napprover = %s\n' \
	"$(cat "$keys/ann.pub")" >"$owner"
# attributed FILE...: `user.of` of each.
attributed() {
	python3 -c 'import os, sys
for path in sys.argv[1:]:
    print(path, os.getxattr(path, "user.of").decode())' "$@"
}
manifest() { "$WARDFS" review "$@" | sed -n 's/^manifest //p'; }
unapplied() {
	before=$(whole)
	expect 1 "$WARDFS" review apply "$@"
	[ "$(whole)" = "$before" ] || fail "apply $* was refused and changed the project"
}

echo '--- a session with a good step, and a bad end'
fresh
before=$(whole)
steps_session one
inside one 'echo good >>changed; echo good >added; rm removed; mv renamed moved; mv d e; echo more >>e/two
	mkdir -p kept; chmod 750 kept; python3 -c "import os
for path in \"kept\", \"added\": os.setxattr(path, \"user.of\", b\"good\")"'
good=$(seen one)
expect 0 "$WARDFS" review mark good
inside one 'echo bad >>changed; echo bad >added; echo old >removed; rm -r e moved; echo bad >kept/bad
	chmod 700 kept; rm untouched; python3 -c "import os
for path in \"kept\", \"added\": os.setxattr(path, \"user.of\", b\"bad\")"'
expect 0 "$WARDFS" review mark bad
inside one 'echo worse >>changed'
expect 125 "$WARDFS" review check one@good -- true
has "$ERR" 'still runs'
steps_over one
[ "$(whole)" = "$before" ] || fail 'the project changed'

echo '--- shown'
expect 0 "$WARDFS" review one@good
has "$OUT" 'session one@good:' 'D removed' 'd/ -> e/' 'renamed -> moved'
expect 0 "$WARDFS" review diff -s one@good changed added
has "$OUT" '+good'
case $OUT in *bad*) fail 'the step has what came later' ;; esac
expect 0 "$WARDFS" review diff -s one changed
has "$OUT" '+bad'
at_good=$(manifest one@good)
at_end=$(manifest one)
[ "$at_good" != "$at_end" ] || fail 'one manifest for both'
[ "$(manifest one@1)" != "$at_good" ] || fail 'control: the step at the start is another one'
expect 0 "$WARDFS" review compare --name-status one@good one@bad
has "$OUT" '! ' 'changed'
expect 0 "$WARDFS" review export -s one@good "$WARD_TMP/exported"
[ "$(cat "$WARD_TMP/exported/files/added")" = good ] || fail 'exported'
expect 125 "$WARDFS" review one@none
has "$ERR" "no step 'none'"
expect 125 "$WARDFS" review one@
has "$ERR" 'comes a step'
for word in undo discard mark log; do expect 2 "$WARDFS" review "$word" -s one@good; done
[ -z "$(ls "$state/reviews/one/views")" ] || fail 'a view is left'

echo '--- checked: the command sees the step, and counts for its manifest alone'
expect 0 "$WARDFS" review check one@good -- sh -c 'grep -q good changed && ! grep -q bad changed'
expect 1 "$WARDFS" review check one -- sh -c 'grep -q good changed && ! grep -q bad changed'
expect 0 "$WARDFS" review check one@bad -- grep -q bad changed
grep -q '"step":"good"' "$state/sessions/one/review.1" || fail "$(cat "$state/sessions/one/review.1")"
grep -q "\"manifest\":\"$at_good\"" "$state/sessions/one/review.1" || fail 'another manifest'
unapplied -s one --require-check='grep -q bad changed'
has "$ERR" "no check of 'grep -q bad changed' on exactly these changes counts"
unapplied -s one@good --require-check='grep -q bad changed'
expect 0 "$WARDFS" review apply --dry-run -s one@good --require-check
expect 0 "$WARDFS" review apply --dry-run -s one@bad --require-check='grep -q bad changed'

echo '--- signed: manifest, command, result and the digest of the trail'
expect 0 "$WARDFS" review sign one@good --key "$keys/ann"
has "$OUT" "session one@good, manifest $at_good" "status 0" 'signed by wardfs/'
text=$state/sessions/one/review.4
check=$(sed -n 's/.*"session":"\([^"]*\)","trail".*/\1/p' "$state/sessions/one/review.1")
python3 "$WARD_SRC/tests/cases/run/lib/review-sealed-steps-signed.py" "$text" "$at_good" "$check" ||
	fail "$(cat "$text")"
unapplied -s one --require-sign
unapplied -s one@bad --require-sign
expect 0 "$WARDFS" review apply --dry-run -s one@good --require-sign --require-check
for s in one "$check"; do
	expect 0 "$WARDFS" audit verify "$s"
	second=$(python3 "$WARD_SRC/tests/support/verify.py" "$state" "$s")
	case $second in "$s intact "*) ;; *) fail "the second verifier: $second" ;; esac
done

echo '--- what a step has is another file by now: the check does not count'
object=$(grep -ls '^good$' "$state"/reviews/one/steps/*/* "$state"/reviews/one/objects/* | head -1)
cp "$object" "$WARD_TMP/object"
echo evil >"$object"
unapplied -s one@good --require-check
cat "$WARD_TMP/object" >"$object"
expect 0 "$WARDFS" review apply --dry-run -s one@good --require-check

echo '--- applied: the step, with attributes; the end is not; taken back'
expect 0 "$WARDFS" review apply -s one@good --require-check --require-sign
same 'what was applied' "$good" "$(listed)"
same 'attributes' "$(printf 'kept good\nadded good')" "$(attributed kept added)"
expect 0 "$WARDFS" review one@good
has "$OUT" 'changed   (applied)' 'applied 20'
expect 0 "$WARDFS" review one
has "$OUT" 'changed   (applied with other content)'
applied=$(whole)
expect 0 "$WARDFS" review apply -s one@good
[ "$(whole)" = "$applied" ] || fail 'applied twice'
expect 1 "$WARDFS" review apply -s one changed
has "$ERR" "changed: not applied: the project's file has changed since"
[ "$(whole)" = "$applied" ] || fail 'a refused apply changed the project'
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail 'an undo of a step'
expect 0 "$WARDFS" audit verify one

echo '--- what was discarded is in no step; a view that was left behind goes'
expect 0 "$WARDFS" review discard -s one added
! "$WARDFS" review one@good | grep -q added || fail 'discarded, and there'
expect 125 "$WARDFS" review check one@good -- true
has "$ERR" 'took changes out of session one'
mkdir -p "$state/reviews/one/views/7/objects"
chown -R --reference="$state/reviews/one/journal" "$state/reviews/one/views"
expect 0 "$WARDFS" review one@bad
[ -z "$(ls "$state/reviews/one/views")" ] || fail 'a view is left'
expect 0 "$WARDFS" review discard -s one
expect 125 "$WARDFS" review check one@good -- true
