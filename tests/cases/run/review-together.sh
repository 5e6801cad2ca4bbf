#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Applies of one session at once, and an apply while other sessions run in the project.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

fresh
expect 0 "$WARDFS" run --review -s one -- sh -c 'echo new >changed; echo new >added; rm removed'

echo "--- while an apply is under way, another one says so"
exec 9<"$XDG_STATE_HOME/wardfs/reviews/one"
flock 9
expect 125 "$WARDFS" review apply -s one
has "$ERR" "another apply of this session is under way"
[ "$(cat changed)" = "old changed" ] || fail "the second one changed something"
exec 9<&-

echo "--- eight at once: together they do it, once"
n=0
while [ $n -lt 8 ]; do
	n=$((n + 1))
	"$WARDFS" review apply -s one >"$WARD_TMP/apply$n" 2>&1 9<&- &
	pids="${pids-} $!"
done
done_by=0
for p in $pids; do
	wait "$p" && done_by=$((done_by + 1)) || :
done
[ $done_by -ge 1 ] || fail "none did it: $(cat "$WARD_TMP"/apply?)"
for n in 1 2 3 4 5 6 7 8; do
	grep -q "applied, 0 not\|another apply of this session is under way\|already" "$WARD_TMP/apply$n" ||
		fail "apply $n: $(cat "$WARD_TMP/apply$n")"
done
no_rest
[ "$(cat changed added)" = "new
new" ] || fail "applied: $(cat changed added)"
expect 0 "$WARDFS" review undo
has "$OUT" "3 undone, 0 not"
[ "$(cat changed)" = "old changed" ] || fail "undone: $(cat changed)"

echo "--- other sessions run in the project: they see what is applied"
steps_session staged
"$WARDFS" run --session direct -- sh -c 'echo up; exec sleep 900' >"$WARD_TMP/up-direct" 2>&1 &
direct=$!
wait_until 60 grep -q up "$WARD_TMP/up-direct" || fail "direct: $(cat "$WARD_TMP/up-direct")"
inside staged 'echo mine >renamed'
expect 0 "$WARDFS" review apply -s one
has "$OUT" "3 applied, 0 not"
sees() { [ "$(inside "$1" 'cat changed')" = new ] && ! inside "$1" 'ls removed' >/dev/null 2>&1; }
for s in staged direct; do
	wait_until 60 sees "$s" || fail "$s sees: $(inside "$s" 'cat changed; ls')"
done
[ "$(inside staged 'cat renamed')" = mine ] || fail "what is staged is gone"

echo "--- a session that runs is not applied"
expect 125 "$WARDFS" review apply -s staged
has "$ERR" "session staged still runs"
[ "$(cat renamed)" = "old renamed" ] || fail "applied: $(cat renamed)"
"$WARDFS" kill direct >/dev/null
wait "$direct" || :
steps_over staged
expect 0 "$WARDFS" review apply -s staged
[ "$(cat renamed)" = mine ] || fail "not applied: $(cat renamed)"
