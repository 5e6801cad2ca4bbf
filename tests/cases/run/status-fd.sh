#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --status-fd: what a program that embeds wardfs learns. No process inside gets the descriptor.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1

# events FILE: the names of the events, in order; each line is JSON.
events() {
	python3 -c 'import json, sys
print(" ".join(json.loads(line)["event"] for line in open(sys.argv[1])))' "$1"
}
expect 3 "$WARDFS" run --session one --status-fd 5 -- sh -c 'ls /proc/self/fd | tr "\n" " "; exit 3' 5>../one
[ "$(events ../one)" = "session started exited ended" ] || fail "$(cat ../one)"
[ "$OUT" = "0 1 2 3 " ] || fail "the command has the descriptor: $OUT"
grep -q '"session":"one"' ../one || fail "$(cat ../one)"
grep -q '"event":"exited","status":3' ../one || fail "$(cat ../one)"
expect 137 "$WARDFS" run --status-fd 5 -- sh -c 'kill -9 $$' 5>../two
[ "$(events ../two)" = "session started signaled ended" ] || fail "$(cat ../two)"
# Nothing ran: the last line says why.
expect 127 "$WARDFS" run --status-fd 5 -- no-such-program 5>../three
[ "$(events ../three)" = "session ended" ] || fail "$(cat ../three)"
grep -q '"status":127.*no-such-program: not found' ../three || fail "$(cat ../three)"
# Refusals are counted.
printf '[policy]\nversion = 1\nextends = medium\n[files]\ndeny = secret\n' >../deny.policy
echo x >secret
expect 1 "$WARDFS" run --policy ../deny.policy --status-fd 5 -- cat secret 5>../five
grep -q '"refused":1' ../five || fail "$(cat ../five)"
# A reader that is gone does not hold the session up.
expect 0 sh -c '"$WARDFS" run --status-fd 5 -- true 5>&1 >/dev/null | true'
for n in 2 9 x -1 ''; do
	expect 2 "$WARDFS" run --status-fd "$n" -- true
	has "$ERR" "the number of an open descriptor, at least 3"
done
exit 0
