#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Steps back to files that were removed or replaced while programs have them open: whoever has one
# open, and whoever opens it afterwards, sees the content of that step.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

fresh
for f in read write swapped mapped; do echo "old $f" >"$f"; done
own
before=$(whole)
# Without quotas: what is removed can be opened by /proc/self/fd.
cat >"$WARD_TMP/held.policy" <<'EOF'
[policy]
version = 1
name = t
[tree /workspace]
source = .
[files]
write = /workspace
EOF
mkfifo "$WARD_TMP/commands"
"$WARDFS" run --review --session held --policy "$WARD_TMP/held.policy" -- python3 -c \
	"$(cat "$WARD_SRC/tests/cases/run/lib/review-steps-held.py")" \
	<"$WARD_TMP/commands" >"$WARD_TMP/answers" 2>"$WARD_TMP/err" &
pid=$!
exec 9>"$WARD_TMP/commands"
answers=1
answered() { [ "$(wc -l <"$WARD_TMP/answers")" -ge "$answers" ]; }
wait_until 60 answered || fail "held: $(cat "$WARD_TMP/err")"
# told COMMAND: the program that has the files open does it, and $answer is what it says.
told() {
	answers=$((answers + 1))
	echo "$1" >&9
	wait_until 60 answered || fail "$1: $(cat "$WARD_TMP/err")"
	answer=$(tail -n 1 "$WARD_TMP/answers")
}
first=$(seen held)
then='old read|old write|old swapped|old mapped|old made'
told read
[ "$answer" = "$then" ] || fail "control: $answer"
change() {
	inside held 'for f in read write swapped mapped made; do : >"$f"; done
		rm read write mapped made; echo other >other; mv other swapped'
}

echo "--- changed and removed since the step, so that no step has what is open"
expect 0 "$WARDFS" review mark begin
change
told read
[ "$answer" = "||||" ] || fail "control: nothing changed: $answer"
expect 0 "$WARDFS" review back begin
same "the names of then" "$first" "$(seen held)"
told read
[ "$answer" = "$then" ] || fail "what is open: $answer"

echo "--- what is open and what is at the name are one file"
told write
written=$(inside held 'for f in write swapped mapped made; do head -c 7 "$f"; echo; done')
[ "$written" = "written
written
written
written" ] || fail "written: $written"
second=$(seen held)

echo "--- and forth and back, also over a mark that they are gone at"
expect 0 "$WARDFS" review mark written
change
expect 0 "$WARDFS" review mark gone
inside held 'echo unrelated >unrelated'
expect 0 "$WARDFS" review mark later
expect 0 "$WARDFS" review back written
same "the second step" "$second" "$(seen held)"
expect 0 "$WARDFS" review back begin
same "the first step" "$first" "$(seen held)"
expect 0 "$WARDFS" review back written
same "the second step again" "$second" "$(seen held)"

echo "--- opened by what leads to a removed file alone"
expect 0 "$WARDFS" review mark path
inside held 'echo new >untouched; : >untouched'
told path
inside held 'rm untouched'
told reopen
[ -z "$answer" ] || fail "control: reopened: $answer"
expect 0 "$WARDFS" review back path
told reread
[ "$answer" = "old untouched" ] || fail "reopened: $answer"
[ "$(inside held 'cat untouched')" = "old untouched" ] || fail "$(inside held 'cat untouched')"
told rewrite
[ "$(inside held 'head -c 7 untouched')" = written ] || fail "$(inside held 'cat untouched')"

last=$(seen held)
steps_over held
exec 9>&-
[ "$(whole)" = "$before" ] || fail "the project changed"
expect 0 "$WARDFS" review apply -s held
same "what was applied" "$last" "$(listed)"
