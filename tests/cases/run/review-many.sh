#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many files at once, which apply, undo and back share out between threads: what the host changed
# meanwhile stays and is named, whoever ends them at any moment can run them again, and no look
# changes a time of access.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"
state=$XDG_STATE_HOME/wardfs

CHANGES='for d in $(seq 6); do for f in $(seq 50); do echo "new $d $f" >many/$d/$f; done; done
	for f in $(seq 100); do echo "added $f" >more-$f; done; rm many/1/50; ln many/2/1 further'
many() {
	fresh
	for d in $(seq 6); do
		mkdir -p "many/$d"
		for f in $(seq 50); do echo "old $d $f" >"many/$d/$f"; done
	done
	own
	before=$(whole)
}

accessed() { stat -c %X "$state"/reviews/one/objects/* | sort | uniq -c; }
echo "--- all of it, and back"
many
inodes=$(stat -c '%n %i' many/*/* | sort)
expect 0 "$WARDFS" run --review -s one -- sh -euc "$CHANGES"
# The file system itself leaves the time of a second look in a day as it is.
touch -a -d '2 days ago' "$state"/reviews/one/objects/*
looked=$(accessed)
expect 0 "$WARDFS" review apply
has "$OUT" "401 applied, 0 not"
[ "$(cat many/6/50)" = "new 6 50" ] && [ "$(cat more-100)" = "added 100" ] || fail "apply: $OUT"
[ "$(stat -c %i further)" = "$(stat -c %i many/2/1)" ] || fail "the links are not one file"
no_rest
after=$(whole)
[ "$(accessed)" = "$looked" ] || fail "a look changed a time of access"
expect 0 "$WARDFS" review undo
has "$OUT" "401 undone, 0 not"
[ "$(whole)" = "$before" ] || fail "undo: $(whole)"
[ "$(stat -c '%n %i' many/*/* | sort)" = "$inodes" ] || fail "other files came back"
expect 0 "$WARDFS" audit verify

echo "--- the host's files stay, the others change"
many
expect 0 "$WARDFS" run --review -s two -- sh -euc "$CHANGES"
for f in 1/7 3/33 6/1; do echo host >"many/$f"; done
echo host >more-42
expect 1 "$WARDFS" review apply
has "$OUT" "397 applied, 4 not"
for f in many/1/7 many/3/33 many/6/1 more-42; do
	has "$ERR" "$f: not applied"
	[ "$(cat $f)" = host ] || fail "$f was overwritten"
done
[ "$(cat many/3/34)" = "new 3 34" ] || fail "control: its neighbour was not applied"
for f in 2/9 5/50; do echo later >"many/$f"; done
echo later >more-99
expect 1 "$WARDFS" review undo
has "$OUT" "394 undone, 3 not"
for f in many/2/9 many/5/50 more-99; do
	has "$ERR" "$f: not undone"
	[ "$(cat $f)" = later ] || fail "$f was overwritten"
done
[ "$(cat many/3/34)" = "old 3 34" ] && [ ! -e more-98 ] || fail "control: undo of the others"

echo "--- a step back over many files, and changes after it"
many
expect 0 "$WARDFS" run --review -s back -- python3 - <"$WARD_SRC/tests/cases/run/lib/review-many-back.py"
has "$OUT" "0 are not the other ones"
has "$OUT" "0 did not come back"
# What the second change began with is kept, of each file.
[ "$(find "$state/reviews/back/bases" -type f | wc -l)" = 300 ] || fail "bases are missing"
grep -qx 'old 3 33' "$state"/reviews/back/bases/* || fail "no base has what the file had"
expect 0 "$WARDFS" review apply
has "$OUT" "300 applied, 0 not"
[ "$(cat many/6/50)" = "new 6 50" ] || fail "apply after a step back"

echo "--- ended at any moment, and run again"
many
expect 0 "$WARDFS" run --review -s three -- sh -euc "$CHANGES"
for verb in apply undo; do
	for n in $(seq 12); do
		"$WARDFS" review "$verb" >killed.out 2>&1 &
		pid=$!
		sleep "0.0$n"
		kill -9 "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
		rm -f killed.out
		find many -type f | while read -r f; do
			case "$(cat "$f")" in
			"new "* | "old "*) ;;
			*) fail "$f is neither as before nor as after: $(cat "$f")" ;;
			esac
		done
	done
	expect 0 "$WARDFS" review "$verb"
	no_rest
	if [ "$verb" = apply ]; then want=$after; else want=$before; fi
	[ "$(whole)" = "$want" ] || fail "$verb after kills: $(whole)"
done
