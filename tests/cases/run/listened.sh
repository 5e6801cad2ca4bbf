#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A server inside is not reachable at its address outside, and the end of the run says why. The
# control: a published port, a server that has ended, a port chosen by the kernel, a run without a
# server.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/run/lib/listened-serve.py" serve.py
said='the command listened on port 7171 of its own network, and no port of this host led there: wardfs run --publish 7171'
# serve SECONDS ARG...: for so long; sets ERR.
serve() {
	seconds=$1
	shift
	rm -f ready stop
	"$WARDFS" run --session "s$#.$(date +%s%N)" "$@" >out 2>err &
	run=$!
	wait_until 120 [ -e ready ] || fail "it does not start: $(cat err)"
	sleep "$seconds"
	: >stop
	wait $run || fail "exit $?: $(cat err)"
	ERR=$(cat err)
}
# The first look comes two seconds after the start; a loaded machine takes longer, so longer runs
# are tried as well.
for family in 4 6; do
	for seconds in 4 15 70; do
		serve $seconds -- python3 serve.py 7171 $family stay
		case $ERR in *"$said"*) break ;; esac
	done
	has "$ERR" "$said"
done
serve "$seconds" --publish 17171:7171 -- python3 serve.py 7171 4 stay
hasnt "$ERR" "the command listened"
serve "$seconds" -- python3 serve.py 7171 4 gone
hasnt "$ERR" "the command listened"
serve "$seconds" -- python3 serve.py 0 4 stay
hasnt "$ERR" "the command listened"
touch stop
serve "$seconds" -- python3 -c 'open("ready", "w"); import time; time.sleep(1)'
hasnt "$ERR" "the command listened"
