#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy add --now`, `remove --now` and `undo --now` change the running sessions that follow the
# owner's file, and no others. wardfs says which parts cannot change while a session runs.
# shellcheck disable=SC2016
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_CONFIG_HOME="$WARD_TMP/config"
project p
project q
trap 'for s in follows given other; do "$WARDFS" kill $s >/dev/null 2>&1 || :; done; wait' EXIT
# session NAME [OPTION...]: runs until it is killed
session() {
	name=$1
	shift
	"$WARDFS" run --session "$name" "$@" -- sh -c "touch up-$name; exec sleep 600" 2>"$WARD_TMP/err-$name" &
	wait_until 60 test -e "up-$name" || fail "$name did not start: $(cat "$WARD_TMP/err-$name")"
}
cd q
expect 0 "$WARDFS" policy add deny /workspace/of-q
session other
cd ../p
mkdir src
echo text >src/a
session given --policy medium
expect 0 "$WARDFS" policy add --now deny /workspace/early
has "$OUT" "none of your running sessions uses this file"
expect 0 "$WARDFS" policy undo
session follows
for s in follows given; do
	"$WARDFS" exec $s -- cat src/a >/dev/null || fail "control: $s reads it"
done
expect 0 "$WARDFS" policy add --now deny /workspace/src
has "$OUT" "session follows: changed"
hasnt "$OUT$ERR" "session given"
hasnt "$OUT$ERR" "session other"
expect 1 "$WARDFS" exec follows -- cat src/a
has "$ERR" "Permission denied"
expect 0 "$WARDFS" exec given -- cat src/a
expect 0 "$WARDFS" policy undo --now
has "$OUT" "session follows: changed"
expect 0 "$WARDFS" exec follows -- cat src/a
expect 0 "$WARDFS" policy add --now deny /workspace/src
expect 0 "$WARDFS" policy remove --now deny /workspace/src
expect 0 "$WARDFS" exec follows -- cat src/a
echo "--- the network's mode lasts as long as the session: the line is written, the session keeps its policy"
expect 1 "$WARDFS" policy add --now allow web.example:443
has "$ERR" "session follows keeps its policy"
has "$ERR" "[network] mode"
"$WARDFS" policy explain connect web.example:443 >/dev/null || fail "the line was not written"
echo "--- the same of a port that a line takes away; each line of the reason is a line"
hasnt "$ERR" '\n'
"$WARDFS" kill follows
expect 0 "$WARDFS" policy add forward 18080
rm up-follows
session follows
has "$("$WARDFS" ps)" follows.2
expect 1 "$WARDFS" policy remove --now forward 18080
has "$ERR" "session follows.2 keeps its policy: [network] forward = 18080"
has "$ERR" "session follows.2: its next start has the new policy"
hasnt "$ERR" '\n'
"$WARDFS" kill follows.2
