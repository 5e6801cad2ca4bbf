#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A question about a trail that was changed, or that is missing: the answer says so, and the exit
# status tells it to a script. The control: the same question before.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
XDG_STATE_HOME=$PWD
export XDG_STATE_HOME
STATE=$PWD/wardfs
project work
cd work
echo hello >a.txt
expect 0 "$WARDFS" run --session good -- cat a.txt
expect 0 "$WARDFS" run --session bad -- cat a.txt

ask() {
	for question in summary denials show 'tail' network policy export 'export --format csv' report \
		'report --format md' approvals; do
		# shellcheck disable=SC2086
		expect "$1" "$WARDFS" audit $question "$2"
		[ "$1" -eq 0 ] || has "$ERR" "this trail is not intact: edited"
		[ "$1" -ne 0 ] || hasnt "$ERR" "not intact"
	done
}

echo "--- one trail: each answer says that it was changed"
ask 0 bad
sed -i 's/"comm":"cat"/"comm":"dog"/' "$STATE/sessions/bad/trail.jsonl"
ask 1 bad
ask 0 good
expect 1 "$WARDFS" audit file a.txt bad
has "$OUT" a.txt
expect 0 "$WARDFS" audit file a.txt good
