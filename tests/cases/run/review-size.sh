#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [review] size: what a session stages, and what its steps keep, has a bound, whichever way it is
# filled.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT

LIMIT=$((16 << 20))
POLICY=$WARD_TMP/size.policy
ANY=$WARD_TMP/any.policy
limit() {
	printf '[policy]\nversion = 1\nextends = medium\n[review]\nsize = %s\n' "$1" >"$POLICY"
}
limit 16M
printf '[policy]\nversion = 1\nextends = medium\n' >"$ANY"
fresh
# Larger than what is kept of small files.
for i in $(seq 0 15); do head -c 4194304 /dev/zero | tr '\0' b >"big$i"; done
truncate -s 1G sparse
cp "$WARD_SRC/tests/cases/run/lib/review-size.py" fill.py
own
before=$(whole)

# used NAME FIELD: of the key, as `wardfs quota` has it.
used() {
	"$WARDFS" quota --json "$1" | python3 -c '
import json, sys
print([q["size"] for q in json.load(sys.stdin)[0]["quotas"] if "size" in q][0][sys.argv[1]])' "$2"
}
# store NAME: bytes of the files of the store.
store() {
	find "$XDG_STATE_HOME/wardfs/reviews/$1/objects" "$XDG_STATE_HOME/wardfs/reviews/$1/steps" \
		"$XDG_STATE_HOME/wardfs/reviews/$1/bases" -type f -printf '%i %b %s\n' 2>/dev/null |
		sort -u | awk '{ b = $2 * 512; n += b < $3 ? b : $3 } END { print n + 0 }'
}
amount() { printf '%s\n' "$OUT" | sed -n "s/^$1 //p"; }

ways="write append copies truncated kept ranges unlinked unnamed mapped names attributes marks threads sparse"
for way in $ways; do
	echo "--- $way"
	expect 0 "$WARDFS" run --policy "$ANY" --review -s "any-$way" -- python3 fill.py "$way"
	[ "$(amount "$way")" -gt $((LIMIT / 4)) ] || fail "control: $OUT"
	free=$(amount "$way")
	expect 0 "$WARDFS" run --policy "$POLICY" --review -s "some-$way" -- python3 fill.py "$way"
	got=$(amount "$way")
	case $way in
	sparse | truncated) [ "$got" = EDQUOT ] || fail "$way: $got" ;;
	attributes)
		# 4096 times 2000 bytes fit.
		[ "$got" = "$free" ] || fail "attributes: $got of $free"
		limit 1M
		expect 0 "$WARDFS" run --policy "$POLICY" --review -s few -- python3 fill.py attributes
		[ "$(amount attributes)" -le $((1 << 20)) ] || fail "attributes: $OUT"
		limit 16M
		;;
	*)
		[ "$got" -le "$LIMIT" ] || fail "$way: $got bytes with a limit of $LIMIT"
		[ "$got" -ge $((LIMIT * 3 / 4)) ] || fail "$way: no more than $got bytes"
		[ "$free" -gt "$LIMIT" ] || fail "control: $free bytes without a limit"
		;;
	esac
	[ "$(store "some-$way")" -le "$LIMIT" ] || fail "$way: the store has $(store "some-$way")"
	"$WARDFS" review discard -s "any-$way" >/dev/null
	"$WARDFS" review discard -s "some-$way" >/dev/null 2>&1 || :
done

echo "--- what goes gives back; what is replaced takes no more"
expect 0 "$WARDFS" run --policy "$POLICY" --review -s replaced -- python3 fill.py replaced
[ "$(amount replaced)" = $((64 << 20)) ] || fail "replaced: $OUT"
steps_session one --policy "$POLICY"
inside one 'head -c 4M big1 >new; ln new link; : >>big2; echo x >>changed'
now=$(used one used)
# changed is small: what it had in it counts, too.
[ "$now" = $((8388608 + $(stat -c %s changed) * 2 + 2)) ] || fail "used: $now"
[ "$now" = "$(store one)" ] || fail "the store has $(store one), and $now are counted"
inside one 'head -c 4M big1 >brief; rm brief'
[ "$(used one used)" = "$now" ] || fail "given back: $(used one used) of $now"
inside one 'rm new link big2'
[ "$(used one used)" = "$now" ] || fail "a step has what was removed: $(used one used)"

echo "--- a refusal is in the trail, with the rule"
expect 1 "$WARDFS" exec one -- sh -c 'head -c 20M /dev/zero >much'
has "$ERR" "quota"
[ "$(used one refused)" -ge 1 ] || fail "no refusal is counted"
[ "$(used one used)" -le "$LIMIT" ] || fail "used: $(used one used)"
expect 0 "$WARDFS" quota one
has "$OUT" "size"
expect 0 "$WARDFS" review back -s one 1
[ "$(used one used)" -le "$LIMIT" ] || fail "back: $(used one used)"
expect 2 "$WARDFS" exec one -- sh -c ': >>sparse'

steps_over one
expect 0 "$WARDFS" audit show one --json
has "$OUT" "[review] size = 16M"
has "$OUT" "/workspace/sparse"
expect 0 "$WARDFS" audit verify one

echo "--- marks: refused with a sentence; those of exec are left out, with a record"
steps_session two --policy "$POLICY"
inside two 'head -c 9M /dev/zero >kept; (exec sleep 900) >>kept 2>/dev/null & echo $! >/tmp/held'
expect 1 "$WARDFS" review mark -s two first
has "$ERR" "[review] size = 16M"
has "$ERR" "raise that"
inside two 'true'
expect 0 "$WARDFS" review log -s two
hasnt "$OUT" "first"
[ "$(used two used)" = "$(store two)" ] || fail "refused: $(used two used), and the store has $(store two)"
limit 64M
expect 0 "$WARDFS" policy reload two "$POLICY"
expect 0 "$WARDFS" review mark -s two first
[ "$(used two used)" = $((18 << 20)) ] || fail "the step: $(used two used)"
limit 16M
expect 0 "$WARDFS" policy reload two "$POLICY"
inside two 'kill "$(cat /tmp/held)"'
# A step has nothing of it yet: to change it takes a copy.
expect 0 "$WARDFS" review mark -s two second
expect 2 "$WARDFS" exec two -- sh -c ': >>kept'

echo "--- a step back counts what is there afterwards"
expect 0 "$WARDFS" review back -s two first
[ "$(used two used)" = "$(store two)" ] || fail "back: $(used two used), and the store has $(store two)"
steps_over two
expect 0 "$WARDFS" audit show two --json
has "$OUT" "[review] size = 16M"
has "$OUT" "refused"
expect 0 "$WARDFS" audit verify two

echo "--- killed, and a branch of it: what is shared is not counted"
steps_session base --policy "$POLICY"
inside base 'head -c 12M /dev/zero >new'
# The one below this session's supervisor.
below() {
	for p in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" != wardfs-fs ] || echo "$p"
		below "$p"
	done
}
server=$(below "$pid" | head -n 1)
[ -n "$server" ] || fail "no wardfs-fs below $pid"
kill -9 "$server"
wait "$pid" || :
"$WARDFS" run --policy "$POLICY" --from base --session next -- sh -c 'echo up; exec sleep 900' \
	>"$WARD_TMP/up-next" 2>"$WARD_TMP/err-next" &
pid=$!
wait_until 60 grep -q up "$WARD_TMP/up-next" || fail "next: $(cat "$WARD_TMP/err-next")"
[ "$(used next used)" = 0 ] || fail "shared: $(used next used)"
inside next 'echo more >>new'
[ "$(used next used)" = 12582917 ] || fail "its own: $(used next used)"
expect 1 "$WARDFS" exec next -- sh -c 'head -c 8M /dev/zero >other'
steps_over next
[ "$(whole)" = "$before" ] || fail "the project changed"
