#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A hundred sessions at once: each has its own tree, trail and end, and the ledger has them all.
# shellcheck disable=SC2016
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"

n=100
# Sanitizers take some hundred megabytes a session.
if grep -q __asan_init "$WARDFS" || grep -q __tsan_init "$WARDFS"; then n=10; fi
i=0
while [ $i -lt $n ]; do
	i=$((i + 1))
	mkdir "t$i" && echo "$i" >"t$i/f"
	(
		cd "t$i" || exit 1
		rc=0
		"$WARDFS" run --session "many$i" -- sh -c '
			k=0
			while [ $k -lt 40 ]; do k=$((k + 1)); cat f >/dev/null || exit 9; done
			touch up
			k=0
			while [ ! -e go ]; do
				k=$((k + 1))
				[ $k -lt 6000 ] || exit 8
				sleep 0.1
			done
			cat f' >out 2>err </dev/null || rc=$?
		echo $rc >status
	) &
done
all_up() {
	[ "$(find . -path './t*/up' | wc -l)" = $n ]
}
up=0
wait_until 400 all_up || up=$?
# also if they are not: the ones that are shall end
i=0
while [ $i -lt $n ]; do
	i=$((i + 1))
	echo "changed $i" >"t$i/f"
	touch "t$i/go"
done
wait
[ $up = 0 ] || fail "not all came up: $(cat t*/err)"
i=0
while [ $i -lt $n ]; do
	i=$((i + 1))
	[ "$(cat "t$i/status")" = 0 ] || fail "session $i: $(cat "t$i/status") $(cat "t$i/err")"
	[ "$(cat "t$i/out")" = "changed $i" ] || fail "session $i read: $(cat "t$i/out")"
done
expect 0 "$WARDFS" audit verify --all
[ "$(ls -d "$XDG_STATE_HOME"/wardfs/sessions/many* | wc -l)" = $n ] || fail "sessions are missing"
