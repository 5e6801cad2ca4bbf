#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Steps of a review session: marked, listed, gone back to while its programs run.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

fresh
before=$(whole)
steps_session one
first=$(seen one)

echo "--- a step, changes of all kinds, and back"
expect 0 "$WARDFS" review mark begin
has "$OUT" "step "
inside one 'echo new >>changed; rm removed; mv renamed moved; mv d e; echo more >>e/two; rm -r gone
	mkdir gone sub; echo b >gone/b; echo z >sub/z; ln -s changed link; mkfifo pipe; chmod 700 e
	chmod 600 untouched; ln gone/b linked'
second=$(seen one)
[ "$first" != "$second" ] || fail "control: nothing changed"
expect 0 "$WARDFS" review mark changed
expect 0 "$WARDFS" review back begin
has "$OUT" "has what was there"
same "back at the first step" "$first" "$(seen one)"

echo "--- and forth again: a step back is a step"
expect 0 "$WARDFS" review back changed
same "back at the second step" "$second" "$(seen one)"
expect 0 "$WARDFS" review log
has "$OUT" "begin"
has "$OUT" "before-back"
has "$OUT" "exec"
expect 1 "$WARDFS" review back nowhere
has "$ERR" "there is no step 'nowhere'"

echo "--- content, changed between several steps"
for i in 1 2 3; do
	expect 0 "$WARDFS" review mark "v$i"
	inside one "echo $i >changed; echo $i >>untouched; echo $i >added"
done
for i in 2 1 3 2; do
	expect 0 "$WARDFS" review back "v$i"
	had=$(inside one 'cat added 2>/dev/null || echo 0')
	[ "$had" = "$((i - 1))" ] || fail "v$i: $had"
done
[ "$(inside one 'cat changed')" = 1 ] || fail "v2"

echo "--- the project is as it was; what is reviewed is what the session sees"
[ "$(whole)" = "$before" ] || fail "the project changed"
last=$(seen one)
steps_over one
expect 0 "$WARDFS" review log -s one
has "$OUT" "v3"
expect 0 "$WARDFS" review one
expect 1 "$WARDFS" review apply -s one
has "$ERR" "pipe: not applied"
same "what was applied" "$(printf '%s\n' "$last" | grep -v ' ./pipe ')" "$(listed)"
expect 0 "$WARDFS" audit verify one
expect 0 python3 "$WARD_SRC/tests/support/verify.py" "$XDG_STATE_HOME/wardfs" one
has "$OUT" "one intact"
expect 0 "$WARDFS" audit show one --kind step
has "$OUT" "back"

echo "--- [review] every: a step once the tree was quiet, and none without a change"
printf '[policy]\nversion = 1\nextends = medium\n[review]\nevery = 1s\n' >"$WARD_TMP/every.policy"
fresh
steps_session quiet --policy "$WARD_TMP/every.policy"
inside quiet 'echo x >>changed'
quiet_steps() { "$WARDFS" review log -s quiet | grep -c 'quiet *$'; }
has_quiet() { [ "$(quiet_steps)" -ge 1 ]; }
wait_until 60 has_quiet || fail "no step: $("$WARDFS" review log -s quiet)"
n=$(quiet_steps)
sleep 4
[ "$(quiet_steps)" = "$n" ] || fail "steps without a change: $("$WARDFS" review log -s quiet)"
steps_over quiet

echo "--- the host's edit after a step back is what the next change begins with"
fresh
steps_session edited
expect 0 "$WARDFS" review mark begin
inside edited 'echo mine >>untouched'
expect 0 "$WARDFS" review mark mine
expect 0 "$WARDFS" review back begin
# No other size: only the content tells.
theirs=$(tr a-z A-Z <untouched)
[ "$theirs" != "$(cat untouched)" ] || fail "control: the host changes nothing"
printf '%s\n' "$theirs" >untouched
theirs_seen() { [ "$(inside edited 'cat untouched')" = "$theirs" ]; }
wait_until 60 theirs_seen || fail "the session sees $(inside edited 'cat untouched')"
inside edited 'echo mine >>untouched'
steps_over edited
expect 0 "$WARDFS" review apply -s edited untouched
[ "$(cat untouched)" = "$theirs
mine" ] || fail "applied: $(cat untouched)"

echo "--- content from before the host's edit does not replace that edit"
fresh
steps_session stale
expect 0 "$WARDFS" review mark begin
inside stale 'echo mine >>untouched'
expect 0 "$WARDFS" review mark mine
expect 0 "$WARDFS" review back begin
printf '%s\n' "$theirs" >untouched
theirs_seen() { [ "$(inside stale 'cat untouched')" = "$theirs" ]; }
wait_until 60 theirs_seen || fail "the session sees $(inside stale 'cat untouched')"
inside stale 'echo other >>untouched'
expect 0 "$WARDFS" review back mine
inside stale 'cat untouched'
steps_over stale
expect 1 "$WARDFS" review apply -s stale untouched
has "$ERR" "untouched: not applied: the project's file has changed since"
[ "$(cat untouched)" = "$theirs" ] || fail "the host's edit is lost: $(cat untouched)"

echo "--- nor where nothing staged it in between"
fresh
steps_session back
expect 0 "$WARDFS" review mark begin
inside back 'echo mine >>untouched'
expect 0 "$WARDFS" review mark mine
expect 0 "$WARDFS" review back begin
printf '%s\n' "$theirs" >untouched
expect 0 "$WARDFS" review back mine
steps_over back
expect 1 "$WARDFS" review apply -s back untouched
[ "$(cat untouched)" = "$theirs" ] || fail "the host's edit is lost: $(cat untouched)"

echo "--- a step at which a file was the host's, between two at which it was not"
fresh
steps_session between
expect 0 "$WARDFS" review mark host
inside between 'echo changed >>changed; chmod 600 removed'
staged=$(seen between)
expect 0 "$WARDFS" review mark staged
expect 0 "$WARDFS" review back host
first=$(seen between)
expect 0 "$WARDFS" review mark again
expect 0 "$WARDFS" review back staged
same "staged" "$staged" "$(seen between)"
inside between 'echo more >>changed; chmod 640 removed'
expect 0 "$WARDFS" review back staged
same "staged, and changed since" "$staged" "$(seen between)"
expect 0 "$WARDFS" review back again
same "the host's" "$first" "$(seen between)"

echo "--- removed, back, and changed once more: steps keep it as before"
inside between ': >changed; rm changed'
expect 0 "$WARDFS" review back again
inside between 'echo one >>changed'
one=$(seen between)
expect 0 "$WARDFS" review mark one
inside between 'echo two >>changed'
expect 0 "$WARDFS" review back one
same "one" "$one" "$(seen between)"
expect 0 "$WARDFS" review back host
expect 0 "$WARDFS" review back one
same "one, from the host's" "$one" "$(seen between)"
steps_over between
