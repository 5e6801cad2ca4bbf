#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Steps from inside the session, and attacks with them: names, numbers, what a policy hides, what
# is no attribute, too many. Each comes with its control.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

# attribute SESSION PYTHON: with get(NAME) and set(NAME, VALUE) for attributes of the guard.
attribute() {
	"$WARDFS" exec "$1" -- python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/steps-attribute.py")
$2"
}

fresh
steps_session one
echo "--- status, changes, mark and back"
expect 0 attribute one 'print(set("mark", "mine")); print(get("status")); print(get("steps"))'
has "$OUT" "done"
has "$OUT" "backs: 0"
has "$OUT" "asked for from inside	mine"
inside one 'echo new >>changed; rm removed; echo x >added'
expect 0 attribute one 'print(get("changes"))'
has "$OUT" "M /workspace/changed"
has "$OUT" "D /workspace/removed"
has "$OUT" "A /workspace/added"
expect 0 attribute one 'print(set("back", "mine")); print(os.listdir("."), open("changed").read())'
has "$OUT" "done"
has "$OUT" "removed"
hasnt "$OUT" "added"
hasnt "$OUT" "new"

echo "--- the session is told of a step back from outside"
inside one 'echo new >>changed'
expect 0 "$WARDFS" review back mine
expect 0 attribute one 'print(get("status"))'
has "$OUT" "backs: 2"
has "$OUT" "asked for from outside"

echo "--- bad names and numbers; the control: a good one"
for name in ../x /x a/b .x -x 1x; do
	expect 1 "$WARDFS" review mark -s one -- "$name"
	has "$ERR" "a step's name is"
done
expect 1 "$WARDFS" review mark -s one "$(printf 'a\nb')"
expect 1 "$WARDFS" review mark -s one "$(printf 'a\033[31m')"
hasnt "$ERR" "$(printf '\033')"
expect 1 "$WARDFS" review mark -s one "$(printf 'a\342\200\256b')"
expect 1 "$WARDFS" review mark -s one mine
has "$ERR" "already"
expect 0 "$WARDFS" review mark -s one good.name
for step in 0 999 -1 4294967297 ../1 nowhere "$(printf '1\n')x"; do
	expect 1 "$WARDFS" review back -s one -- "$step"
	has "$ERR" "there is no step"
done
expect 0 attribute one 'print(set("mark", "a\nb"), set("mark", "../x"), set("back", "../1"), set("back", "a" * 65), sep="|")'
[ "$OUT" = "Invalid argument|Invalid argument|No such file or directory|Invalid argument" ] || fail "$OUT"

echo "--- apply and discard are no attributes, and the store is not in sight"
expect 0 attribute one 'print(set("apply", ""), set("discard", ""), set("undo", ""), set("why", "x"), set("status", "x"), sep="|")'
[ "$OUT" = "Operation not permitted|Operation not permitted|Operation not permitted|Operation not permitted|Operation not permitted" ] || fail "$OUT"
expect 2 inside one "ls '$XDG_STATE_HOME/wardfs/reviews'"
steps_session two
expect 0 attribute two 'print(set("back", "mine"))'
has "$OUT" "No such file or directory"
expect 0 attribute two 'print(set("mark", "other"))'
expect 0 attribute one 'print(get("steps"))'
hasnt "$OUT" "other"
steps_over two
"$WARDFS" run --session plain -- python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/steps-attribute.py")
try: print(get('status'))
except OSError as e: print(os.strerror(e.errno))
print(set('mark', 'a'))" >"$WARD_TMP/plain"
same "without review" "No data available
Operation not permitted" "$(cat "$WARD_TMP/plain")"

echo "--- over names that the policy hides by now; the control: the same without that policy"
inside one 'mkdir secret; echo a >secret/a; echo b >plain'
expect 0 "$WARDFS" review mark -s one here
inside one 'echo changed >secret/a; rm plain'
printf '[policy]\nversion = 1\nextends = medium\n[files]\nhide = /workspace/secret\n' >"$WARD_TMP/hide.policy"
printf '[policy]\nversion = 1\nextends = medium\n' >"$WARD_TMP/plain.policy"
expect 0 "$WARDFS" policy reload one "$WARD_TMP/hide.policy"
expect 1 "$WARDFS" review back -s one here
has "$ERR" "the policy of now does not let the session change secret/a"
expect 0 attribute one 'print(set("back", "here")); print(get("changes"))'
has "$OUT" "Permission denied"
hasnt "$OUT" "secret"
expect 0 inside one '[ ! -e plain ]'
expect 0 "$WARDFS" policy reload one "$WARD_TMP/plain.policy"
[ "$(inside one 'cat secret/a')" = changed ] || fail "a refused step back changed a file"
expect 0 "$WARDFS" review back -s one here
[ "$(inside one 'cat secret/a plain')" = "a
b" ] || fail "control: $(inside one 'cat secret/a plain')"

echo "--- what the session made is no secret to it: it comes and goes with its steps"
expect 0 "$WARDFS" review mark -s one before-env
inside one 'echo key=1 >.env'
expect 0 "$WARDFS" review mark -s one with-env
inside one 'echo key=2 >.env'
expect 0 "$WARDFS" review back -s one with-env
[ "$(inside one 'cat .env')" = key=1 ] || fail "$(inside one 'cat .env')"
expect 0 "$WARDFS" review back -s one before-env
expect 0 inside one '[ ! -e .env ]'
expect 0 "$WARDFS" review back -s one with-env
expect 0 "$WARDFS" review back -s one before-env

echo "--- a thousand marks inside are bounded, and push out nobody's"
expect 0 attribute one 'print(sum(set("mark", "") == "done" for i in range(1000)))'
[ "$OUT" -lt 64 ] && [ "$OUT" -gt 50 ] || fail "$OUT marks were made"
expect 0 "$WARDFS" review log -s one
has "$OUT" "good.name"
i=0
while [ $i -lt 250 ]; do
	inside one 'echo >>changed'
	i=$((i + 1))
done
expect 0 "$WARDFS" review log -s one
has "$OUT" "good.name"
[ "$(printf '%s\n' "$OUT" | grep -c 'Z ')" -le 200 ] || fail "more than 200 steps"
expect 0 "$WARDFS" review back -s one good.name
expect 0 inside one '[ ! -e plain ] && [ "$(cat changed)" = "old changed" ]'

echo "--- open files see the step, and what was removed goes on"
inside one 'echo one >open; echo one >gone-soon'
expect 0 "$WARDFS" review mark -s one open
"$WARDFS" exec one -- python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/steps-hold.py")" \
	>"$WARD_TMP/held" 2>&1 &
held=$!
wait_until 60 grep -q held "$WARD_TMP/held" || fail "$(cat "$WARD_TMP/held")"
expect 0 inside one 'cat open'
[ "$OUT" = two ] || fail "control: $OUT"
expect 0 "$WARDFS" review back -s one open
inside one 'touch go'
wait "$held" || fail "$(cat "$WARD_TMP/held")"
same "what the program sees" "held
one one one one
six" "$(cat "$WARD_TMP/held")"
steps_over one
expect 0 "$WARDFS" audit verify one
