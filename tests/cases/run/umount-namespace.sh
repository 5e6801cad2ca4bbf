#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two sessions have a mount at the same path, each in a mount namespace of its own. `wardfs umount`
# takes away the one that the caller has there, and no other.
# timeout: 120
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: mounts"
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
mkdir one two at
echo one >one/f
echo two >two/f
trap '"$WARDFS" kill there 2>/dev/null || :; "$WARDFS" kill here 2>/dev/null || :; : >go' EXIT
runs() { "$WARDFS" ps | grep -q "^$1 "; }

# there: in a namespace of its own, which a process keeps.
# shellcheck disable=SC2016 # the shell inside expands it
unshare --mount --propagation private sh -c '
	"$WARDFS" mount -s there one at && : >begun
	while [ ! -e go ]; do sleep 0.1; done
	cat at/f >seen 2>&1 || :' &
keeper=$!
wait_until 60 test -e begun || fail "no mount there"

echo "--- nothing is mounted here: said, and the other one stays"
expect 1 "$WARDFS" umount at
has "$ERR" "$PWD/at is a mount of session there in another mount namespace"
runs there || fail "it has ended"

echo "--- a mount of each: the one that is here goes"
expect 0 "$WARDFS" mount -s here two at
[ "$(cat at/f)" = two ] || fail "control: not mounted"
expect 0 "$WARDFS" umount at
runs there || fail "the other session has ended"
! runs here || fail "this session goes on"
[ -z "$(ls at)" ] || fail "it is still mounted"
: >go
wait $keeper
[ "$(cat seen)" = one ] || fail "the other mount is gone: $(cat seen)"

echo "--- control: as the message says, kill ends it"
expect 0 "$WARDFS" kill there
! runs there || fail "it goes on"
