#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A `.git` file names a mount whose server does not answer. No verb hangs, and the start is
# refused by name. The time limit of this test only ends a hang.
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
mkdir "$WARD_TMP/dead" "$WARD_TMP/alive"
mkfifo "$WARD_TMP/end"
python3 "$WARD_SRC/tests/cases/policy/lib/git-dead-mount.py" "$WARD_TMP/dead" <"$WARD_TMP/end" >"$WARD_TMP/said" &
server=$!
exec 9>"$WARD_TMP/end"
trap 'exec 9>&-; wait "$server"' EXIT
wait_until 60 grep -q mounted "$WARD_TMP/said"
if timeout 1 stat "$WARD_TMP/dead/x" >/dev/null 2>&1 || [ $? -ne 124 ]; then fail "control: the mount answers"; fi
project p
cd p
mkdir sub

echo "--- control: a directory that answers"
echo "gitdir: $WARD_TMP/alive/x" >sub/.git
expect 0 timeout 60 "$WARDFS" run -- true
echo "--- beneath the project, by an absolute path: run"
echo "gitdir: $WARD_TMP/dead/x" >sub/.git
expect 2 timeout 60 "$WARDFS" run -- true
has "$ERR" "/workspace/sub/.git leads to a file system that does not answer"
has "$ERR" "move it away"
rm sub/.git
echo "--- at its top, by a relative one: check and init"
rm -rf .git
echo "gitdir: ../dead/x" >.git
expect 2 timeout 60 "$WARDFS" policy check
has "$ERR" "does not answer"
refused "does not answer" timeout 60 "$WARDFS" init
rm .git
expect 0 timeout 60 "$WARDFS" run -- true
