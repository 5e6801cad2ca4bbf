#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where the trail lies: a trail that cannot be written starts nothing, and the agent never sees
# it.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1

# A place that cannot be written (a file stands where the directory should be).
touch "$WARD_TMP/notadir"
XDG_STATE_HOME=$WARD_TMP/notadir expect 125 "$WARDFS" run -- touch started
[ ! -e started ] || fail "ran without a trail"
# Control: elsewhere it runs.
XDG_STATE_HOME=$WARD_TMP/state2 expect 0 "$WARDFS" run -- touch started
[ -e started ] || fail "did not run"
rm started

# Below the tree: the agent would see its own trail.
XDG_STATE_HOME=$PWD/.state expect 125 "$WARDFS" run -- touch started
has "$ERR" "XDG_STATE_HOME"
[ ! -e started ] || fail "ran with its trail in the tree"

# Nor below what it is shown of the host.
mkdir -p "$WARD_TMP/wide/state" "$WARD_TMP/wide/tools"
for d in wide wide/tools; do
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nread = %s\n' "$WARD_TMP/$d" >read.policy
	want=125
	[ $d = wide ] || want=0
	XDG_STATE_HOME=$WARD_TMP/wide/state expect $want "$WARDFS" run --policy read.policy -- true
	[ $want = 0 ] || has "$ERR" "lies in [system] read"
done

# A session name that exists gets a number.
expect 0 "$WARDFS" run --session twice -- sh -c 'echo $WARDFS_SESSION'
has "$OUT" twice
expect 0 "$WARDFS" run --session twice -- sh -c 'echo $WARDFS_SESSION'
has "$OUT" twice.2
expect 0 "$WARDFS" audit verify --all

# A state directory that others can write to, or of another user: the message says what to type.
mkdir -p "$WARD_TMP/shared/wardfs"
chmod 777 "$WARD_TMP/shared/wardfs"
XDG_STATE_HOME=$WARD_TMP/shared expect 125 "$WARDFS" run -- touch started
has "$ERR" "fix: chmod go-w $WARD_TMP/shared/wardfs"
[ ! -e started ] || fail "ran with a trail that others can change"
# Control: what the message says helps.
chmod go-w "$WARD_TMP/shared/wardfs"
XDG_STATE_HOME=$WARD_TMP/shared expect 0 "$WARDFS" run -- true
# One that cannot be made where it is said to be, and one that nothing has made yet.
touch "$WARD_TMP/plain"
XDG_STATE_HOME=$WARD_TMP/plain expect 125 "$WARDFS" run -- touch started
has "$ERR" "plain/wardfs: Not a directory (fix: set XDG_STATE_HOME to a directory of yours)"
[ ! -e started ] || fail "ran without a trail"
for verb in show tail denials summary; do
	XDG_STATE_HOME=$WARD_TMP/none expect 125 "$WARDFS" audit $verb
	has "$ERR" "no session has run yet: there is no $WARD_TMP/none/wardfs. 'wardfs run -- CMD' starts one"
done
# A list of none is an answer, of the default place. One that was named must be there.
expect 125 "$WARDFS" audit list --state "$WARD_TMP/none/wardfs"
has "$ERR" "--state $WARD_TMP/none/wardfs: No such file or directory"
for verb in list network approvals; do
	XDG_STATE_HOME=$WARD_TMP/none expect 0 "$WARDFS" audit $verb
	[ -z "$OUT" ] || fail "$OUT"
	has "$ERR" "no session has run yet"
	XDG_STATE_HOME=$WARD_TMP/none expect 0 "$WARDFS" audit $verb --json
	[ "$OUT" = '[]' ] || fail "$OUT"
done
if [ "$(id -u)" -eq 0 ]; then
	cat >"$WARD_TMP/closed.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project "$HOME/p"
cd "$HOME/p" || exit 1
XDG_STATE_HOME=$1 expect 125 "$WARDFS" run -- touch started
has "$ERR" "$1/wardfs"
has "$ERR" ": Permission denied (fix: set XDG_STATE_HOME to a directory of yours)"
[ ! -e started ] || fail "ran without a trail"
XDG_STATE_HOME=$HOME/mine expect 0 "$WARDFS" run -- touch started
S
	mkdir -m 700 "$WARD_TMP/closed"
	(as_user "$WARD_TMP/closed.sh" "$WARD_TMP/closed/state") || fail "a closed directory"
	chown -R 4711 "$WARD_TMP/shared"
	XDG_STATE_HOME=$WARD_TMP/shared expect 125 "$WARDFS" run -- true
	has "$ERR" "belongs to another user, uid 4711 (fix: run wardfs as that user, or set XDG_STATE_HOME"
fi
exit 0
