# SPDX-License-Identifier: Apache-2.0
# For cases that look at the records of sessions: sourced, and goes to an empty project. The case
# writes ../policy.
# shellcheck shell=sh
set -eu
. "$WARD_SRC/tests/lib.sh"
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
project p
cd p || exit 1

# recorded NAME CMD…: CMD in a session under ../policy, its trail verified; its records are in
# ../NAME.jsonl
recorded() {
	name=$1
	shift
	expect 0 "$WARDFS" run --policy ../policy --session "$name" -- "$@"
	"$WARDFS" audit verify "$name" >../verdict || fail "$name: $(cat ../verdict)"
	"$WARDFS" audit show --json "$name" >"../$name.jsonl"
}
