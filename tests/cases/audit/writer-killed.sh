#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the writer at any moment under load. Each acknowledged record is in the log exactly
# once. verify names the cause, which the recovery writer appended.
# plain
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

run --session control --events 3000 --threads 3
check_acked control
[ "$(state_of control)" = "intact 9002 0" ] || fail "control: $(state_of control)"

rounds=${WARD_ROUNDS:-${WARD_LONG:+200}}
rounds=${rounds:-6}
round=1
while [ $round -le "$rounds" ]; do
	run --session "k$round" --events 15000 --threads 3 --kill-ms $((round * 7 % 40 + 1))
	check_acked "k$round"
	[ "$(wc -l <acked)" -eq 45000 ] || fail "k$round: $(wc -l <acked) acknowledged"
	case $(state_of "k$round") in
	"incomplete "*" 0") ;;
	*) fail "k$round: $(state_of "k$round")" ;;
	esac
	grep -q 'recovery: the writer was killed by signal 9' \
		"state/sessions/k$round/trail.jsonl" || fail "k$round: no cause in the log"
	[ $round -le 12 ] || rm -r "state/sessions/k$round" # with --long: gigabytes
	round=$((round + 1))
done
# The same between and within segments: a recovery writer has only the last one.
rounds=$(((rounds + 1) / 2))
round=1
while [ $round -le "$rounds" ]; do
	run --session "s$round" --events 4000 --threads 3 --kill-ms $((round * 9 % 60 + 1)) --rotate 20000
	check_acked "s$round"
	case $(state_of "s$round") in
	"incomplete "*" 0") ;;
	*) fail "s$round: $(state_of "s$round")" ;;
	esac
	[ $round -le 12 ] || rm -r "state/sessions/s$round"
	round=$((round + 1))
done
[ "$(find state/sessions/s* -name 'trail.*.jsonl' | wc -l)" -gt "$((rounds < 12 ? rounds : 12))" ] ||
	fail "no segments: the rounds prove less than they should"
agree "segments, killed"
audit verify k1 | grep -q replaced || fail "verify does not tell the cause"
