#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sessions that begin where another one was (run --from): several at once from one base, none of
# which changes it, and all of them reviewed on their own.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

LIST="find . -path ./.git -prune -o -printf '%y %m %p %l\n' | sort -k3
	find . -path ./.git -prune -o -type f -readable -exec sha256sum {} + | sort -k2"

fresh
before=$(whole)
steps_session base
inside base 'echo new >>changed; rm removed; mv d e; echo more >>e/two; rm -r gone; mkdir gone sub
	echo b >gone/b; echo z >sub/z; ln sub/z sub/y; ln -s changed link; chmod 600 untouched'
expect 0 "$WARDFS" review mark -s base middle
middle=$(seen base)
inside base 'echo later >>changed; rm sub/z; mv sub/y y; echo l >later; mv e f; chmod 644 untouched'
last=$(seen base)

echo "--- not of a session that runs, of none, of no step"
expect 125 "$WARDFS" run --from base -- true
has "$ERR" "still runs"
steps_over base
expect 125 "$WARDFS" run --from nothing -- true
has "$ERR" "no staged changes"
expect 2 "$WARDFS" run --from ../base -- true
has "$ERR" "is no session"
expect 125 "$WARDFS" run --from base@nowhere -- true
has "$ERR" "no step 'nowhere'"
stored=$(cd "$XDG_STATE_HOME/wardfs/reviews/base" && find . -type f -exec sha256sum {} + | sort -k2)

echo "--- at its end, and at a step"
expect 0 "$WARDFS" run --from base -s again -- sh -euc "$LIST"
same "the end of base" "$last" "$OUT"
expect 0 "$WARDFS" run --from base@middle -s midway -- sh -euc "$LIST"
same "a step of base" "$middle" "$OUT"

echo "--- two at once, each with changes of its own, and the base has none"
for s in left right; do
	"$WARDFS" run --from base -s $s -- sh -euc "echo $s >>changed; echo $s >>f/two; rm later
		echo $s >own; [ \$(stat -c %h own) = 1 ]; echo $s >>y; chmod 640 untouched; touch up-$s
		i=0; while [ ! -e /workspace/go ] && [ \$i -lt 20 ]; do sleep 0.1; i=\$((i + 1)); done
		tail -n 1 changed f/two own y" >"$WARD_TMP/$s" 2>&1 &
done
wait
[ "$(grep -c left "$WARD_TMP/left")" -ge 4 ] || fail "$(cat "$WARD_TMP/left")"
[ "$(grep -c right "$WARD_TMP/right")" -ge 4 ] || fail "$(cat "$WARD_TMP/right")"
hasnt "$(cat "$WARD_TMP/left")" right
now=$(cd "$XDG_STATE_HOME/wardfs/reviews/base" && find . -type f -exec sha256sum {} + | sort -k2)
same "what base staged" "$stored" "$now"
[ "$(whole)" = "$before" ] || fail "the project changed"

echo "--- steps in a branch, and back"
steps_session deep --from base
expect 0 "$WARDFS" review mark -s deep top
inside deep 'echo deep >>changed; rm -r sub; echo x >f/two'
expect 0 "$WARDFS" review back -s deep top
same "the branch at its first step" "$last" "$(seen deep)"
inside deep 'echo deeper >>changed; echo x >>f/two'
now=$(cd "$XDG_STATE_HOME/wardfs/reviews/base" && find . -type f -exec sha256sum {} + | sort -k2)
same "what base staged" "$stored" "$now"
steps_over deep

echo "--- compared"
expect 0 "$WARDFS" review compare left right
has "$OUT" "changed"
hasnt "$OUT" "link"
expect 0 "$WARDFS" review compare again base
[ "$OUT" = "the two sessions staged the same" ] || fail "$OUT"

echo "--- a branch is applied like any session, also once its base is gone"
expect 0 "$WARDFS" review discard -s base
expect 0 "$WARDFS" review left
expect 0 "$WARDFS" review apply -s left
[ "$(tail -n 1 changed)" = left ] && [ "$(cat f/one)" = "old d/one" ] && [ ! -e removed ] ||
	fail "applied: $(whole)"
expect 0 "$WARDFS" audit verify left

echo "--- not in another project"
project "$WARD_TMP/other"
cd "$WARD_TMP/other"
expect 125 "$WARDFS" run --from right -- true
has "$ERR" "another project"
