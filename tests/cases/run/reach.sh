#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a run must never get: our own directories, and descriptors that lead out. Each with its
# control. Also what widens the workspace.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1

# Standard input, output, error: a directory leads to its whole file system.
expect 0 sh -c '"$WARDFS" run -- true </etc/passwd'
expect 2 sh -c '"$WARDFS" run -- touch started </'
has "$ERR" "directory"
expect 2 sh -c '"$WARDFS" run -- touch started 1<>/dev/null 0</etc'
[ ! -e started ] || fail "ran with a directory as a descriptor"

# The state directory: not in the tree, also not through a link; and no tree in the state directory.
mkdir -p inner ../elsewhere
ln -s "$PWD/inner" ../link
XDG_STATE_HOME=$WARD_TMP/link expect 125 "$WARDFS" run -- touch started
has "$ERR" "XDG_STATE_HOME"
XDG_STATE_HOME=$WARD_TMP/elsewhere expect 0 "$WARDFS" run -- touch control
[ -e control ] || fail "control: did not run"
(cd ../elsewhere/wardfs/sessions && XDG_STATE_HOME=$WARD_TMP/elsewhere expect 125 "$WARDFS" run -- touch started) ||
	exit 1
# The owner's policies: the next session would obey what this one writes.
XDG_CONFIG_HOME=$PWD/inner expect 125 "$WARDFS" run -- touch started
has "$ERR" "XDG_CONFIG_HOME"
XDG_CONFIG_HOME=$PWD/inner expect 0 "$WARDFS" run --hide "$PWD/inner" -- true
# The control sockets.
XDG_RUNTIME_DIR=$PWD/inner expect 125 "$WARDFS" run -- touch started
has "$ERR" "XDG_RUNTIME_DIR"
[ ! -e started ] || fail "ran with a place of ours in reach"

# Sockets and pipes outside are not to be read: seeing one is talking to it.
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("../sock")'
mkfifo ../pipe
echo text >../plain
expect 0 "$WARDFS" run --read ../plain -- cat ../plain
expect 2 "$WARDFS" run --read ../sock -- true
expect 2 "$WARDFS" run --read ../pipe -- true

# --hide by host path is the same as by sandbox path; what lies in no tree is an error.
echo secret >inner/secret
expect 0 "$WARDFS" run -- cat inner/secret
expect 1 "$WARDFS" run --hide "$PWD/inner/secret" -- cat inner/secret
expect 1 "$WARDFS" run --hide /workspace/inner/secret -- cat "$PWD/inner/secret"
expect 2 "$WARDFS" run --hide /nowhere/at/all -- true

# One's own mark above widens the workspace; somebody else's does not (reach-others).
mkdir -p ../own/sub ../own/.git
echo up >../own/file
cd ../own/sub || exit 1
expect 0 "$WARDFS" run -- cat ../file
exit 0
