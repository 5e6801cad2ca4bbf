#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `review apply --interactive`: change by change and hunk by hunk, from a pipe and on a terminal.
# What is applied is what was said yes to, the rest stays staged, and an undo takes each back.
# Attacks come with their control: what is staged changes between the question and the answer, a
# change that needs its own yes gets an "a", names and lines have control characters.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

# text WORD...: 40 numbered lines, those that are named with "new" behind them.
text() {
	for n in $(seq 40); do
		case " $* " in
		*" $n "*) echo "$n new" ;;
		*) echo "$n" ;;
		esac
	done
}
# stage NAME: a session that changes lines 2, 5, 20 and 38 of f, adds, removes and renames.
stage() {
	fresh
	text >f
	own
	text 2 5 20 38 >"$WARD_TMP/f.new"
	chmod 644 "$WARD_TMP/f.new"
	expect 0 "$WARDFS" run --review -s "$1" --read "$WARD_TMP/f.new" -- sh -euc "cat '$WARD_TMP/f.new' >f
		echo added >added; rm removed; mv renamed moved"
}
# answers SESSION ANSWER...: an answer a line.
answers() {
	session=$1
	shift
	printf '%s\n' "$@" >"$WARD_TMP/answers"
	set +e
	OUT=$("$WARDFS" review apply -s "$session" --interactive <"$WARD_TMP/answers" 2>"$WARD_TMP/err")
	RC=$?
	set -e
	ERR=$(cat "$WARD_TMP/err")
}
is() { [ "$(cat "$1")" = "$(text $2)" ] || fail "$1 is not with $2: $(cat "$1")"; }

echo "--- the control: without questions all of it comes"
stage all
expect 0 "$WARDFS" review apply
is f "2 5 20 38"

echo "--- yes and no, hunk by hunk"
stage some
before=$(whole)
answers some n y n y n n
[ $RC -eq 0 ] || fail "$RC $ERR"
has "$OUT" "(1/3) Apply this hunk [y,n,q,a,d,s,?]?"
has "$OUT" "+20 new"
is f "2 5 38"
[ ! -e added ] && [ -e removed ] && [ -e renamed ] || fail "what was said no to came: $(ls)"
[ ! -e moved ] || fail "a rename came"
no_rest
expect 0 "$WARDFS" review some
has "$OUT" "M f   (applied in part)"
expect 0 "$WARDFS" review diff f
has "$OUT" "+20 new"
hasnt "$OUT" "+2 new"
expect 0 "$WARDFS" audit verify some
record=$(find "$XDG_STATE_HOME" -name 'review.1' -path '*some*')
has "$(cat "$record")" "\"after\":\"$(sha256sum <f | cut -d' ' -f1)\",\"part\":\"hunks\""

echo "--- the rest later, and both undone"
part=$(digest)
expect 0 "$WARDFS" review apply f
is f "2 5 20 38"
expect 0 "$WARDFS" review
has "$OUT" "M f   (applied)"
expect 0 "$WARDFS" review undo
[ "$(whole)" = "$before" ] || fail "undo: $(whole)"
answers some n y n y n n
is f "2 5 38"
[ "$(digest)" = "$part" ] || fail "the same answers: $(digest)"
expect 0 "$WARDFS" review undo f
[ "$(whole)" = "$before" ] || fail "undo of a part: $(whole)"
expect 0 "$WARDFS" review apply f
is f "2 5 20 38"

echo "--- split, all later ones, none later, quit, the end of the answers, help"
stage split
answers split n s y n n y q
has "$OUT" "(2/4)"
is f "2 38"
stage later
answers later y a q
is f "2 5 20 38"
[ "$(cat added)" = added ] && [ -e removed ] && [ -e renamed ] || fail "quit: $(ls)"
stage none
answers none n d n n
is f ""
[ "$RC" -eq 0 ] || fail "nothing said yes to: $RC"
stage quit
answers quit n y q
is f "2 5"
stage end
answers end n '?' y
has "$OUT" "s - split this"
is f "2 5"
stage empty
answers empty
is f ""

echo "--- paths, and what is of no use together"
stage paths
printf '%s\n' n y n >"$WARD_TMP/answers"
OUT=$("$WARDFS" review apply -i f <"$WARD_TMP/answers") || fail "a path"
is f "20"
answers paths n n y y y
is f "20 38"
[ -e moved ] && [ ! -e removed ] && [ ! -e added ] || fail "names: $(ls)"
expect 2 "$WARDFS" review apply --interactive --dry-run
expect 2 "$WARDFS" review diff --interactive

echo "--- permissions are a question of their own"
fresh
text >f
own
expect 0 "$WARDFS" run --review -s mode -- sh -c 'sed -i s/^3$/three/ f; chmod 600 f'
answers mode n y
[ "$(stat -c %a f)" = 644 ] && [ "$(sed -n 3p f)" = three ] || fail "hunks without permissions"
answers mode y
[ "$(stat -c %a f)" = 600 ] || fail "permissions later: $OUT $ERR $(stat -c %a f)"

echo "--- what this host may execute needs its own yes"
fresh
printf '[policy]\nversion = 1\nextends = medium\n[files]\nwrite = /workspace\n' >../all.policy
expect 0 "$WARDFS" run --review -s flag -- sh -c 'echo x >plain; ln -s /etc/passwd out'
answers flag y y y
[ ! -L out ] && [ -e plain ] || fail "y was enough: $(ls)"
has "$OUT" 'Type "yes" to apply it'
answers flag y yes
[ -L out ] || fail "control: yes: $OUT; $(ls)"

echo "--- what is staged changes behind the question"
stage forged
object=$(find "$XDG_STATE_HOME/wardfs/reviews/forged/objects" -type f -exec grep -l "20 new" {} +)
mkfifo answer.fifo
"$WARDFS" review apply -s forged --interactive <answer.fifo >"$WARD_TMP/out" 2>"$WARD_TMP/err" &
pid=$!
exec 9>answer.fifo
asked() { grep -q 'Apply this change' "$WARD_TMP/out"; }
wait_until 60 asked || fail "no question: $(cat "$WARD_TMP/out" "$WARD_TMP/err")"
cp -a "$object" "$WARD_TMP/object"
echo forged >>"$object"
printf '%s\n' n >&9
exec 9>&-
wait $pid && fail "a forged file is no error"
has "$(cat "$WARD_TMP/err")" "f: not applied: what is staged has changed since it was looked at"
is f ""
rm answer.fifo
cp -a "$WARD_TMP/object" "$object"
answers forged n a
is f "2 5 20 38"

echo "--- the host changes the file behind the question"
stage host
mkfifo answer.fifo
"$WARDFS" review apply -s host --interactive <answer.fifo >"$WARD_TMP/out" 2>"$WARD_TMP/err" &
pid=$!
exec 9>answer.fifo
printf '%s\n' n >&9
asked() { grep -q 'Apply this hunk' "$WARD_TMP/out"; }
wait_until 60 asked || fail "no question: $(cat "$WARD_TMP/out" "$WARD_TMP/err")"
echo host >>f
printf '%s\n' y n n q >&9
exec 9>&-
wait $pid && fail "a conflict is no error"
has "$(cat "$WARD_TMP/err")" "f: not applied: the project's file has changed since"
[ "$(tail -1 f)" = host ] && ! grep -q new f || fail "the host's change was lost"
rm answer.fifo

echo "--- control characters in names and lines"
fresh
expect 0 "$WARDFS" run --review -s ctl -- python3 -c 'open("x\033[31my\n", "w").write("\033]0;t\007\n")'
answers ctl y
[ $RC -eq 0 ] || fail "$RC $ERR"
! printf '%s' "$OUT$ERR" | grep -q "$(printf '\033')" || fail "an escape sequence was printed"

echo "--- on a terminal"
stage tty
python3 "$WARD_SRC/tests/cases/run/lib/review-terminal.py" "$WARDFS" tty || fail "on a terminal"
is f "2 5"

echo "--- killed between the questions and the end: before or after"
for i in 1 2 3 4; do
	stage "kill$i"
	printf '%s\n' n y n y n n >"$WARD_TMP/answers"
	"$WARDFS" review apply -s "kill$i" --interactive <"$WARD_TMP/answers" >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i * 2))"
	kill -9 $pid 2>/dev/null || :
	wait $pid || :
	case $(cat f) in
	"$(text)" | "$(text 2 5 38)") ;;
	*) fail "f is neither: $(cat f)" ;;
	esac
	expect 0 "$WARDFS" review apply -s "kill$i"
	is f "2 5 20 38"
	no_rest
	[ -z "$(find "$XDG_STATE_HOME" -name parts)" ] || fail "a part was left"
done
