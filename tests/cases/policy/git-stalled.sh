#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file system in the project has a server that does not answer. The search for repositories does
# not wait for it. Beneath it nothing can be written, and everything beside it is guarded as
# usual. The control: while the server answers, wardfs finds its repositories.
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
cd "$WARD_TMP"
mkdir back
project p
cd p || exit 1
mkdir -p z/slow
git init -q --bare z/lib.git
git init -q --bare ../back/deep/inner.git
"$WARD_BUILD/tests/support/foldfs" exact "$WARD_TMP/back" "$WARD_TMP/p/z/slow" &
server=$!
trap 'kill -CONT $server; umount -l z/slow; kill $server 2>/dev/null || :' EXIT
wait_until 60 mountpoint -q z/slow || fail "no file system"
expect 1 "$WARDFS" policy explain write z/slow/deep/inner.git/config
has "$OUT" 'inner.git/config'
expect 0 "$WARDFS" policy explain write z/slow/deep/plain
kill -STOP $server
stopped() { grep -q '^State:.T' /proc/$server/status; }
wait_until 60 stopped || fail "the server goes on"
expect 0 timeout 100 "$WARDFS" policy check
expect 1 timeout 100 "$WARDFS" policy explain write z/lib.git/config
expect 0 timeout 100 "$WARDFS" policy show
has "$OUT" "read = /workspace/z/slow"
expect 0 timeout 100 "$WARDFS" policy explain write z/plain
exit 0
