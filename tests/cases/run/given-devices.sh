#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# /dev/null and similar devices as descriptors 0, 1 and 2: the command cannot change the host's
# device. The control is mode none.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
# Devices of our own, whose times nobody else changes.
mkdir "$WARD_TMP/dev"
mount -t tmpfs -o mode=755 tmpfs "$WARD_TMP/dev"
for d in null:3 zero:5 full:7 random:8 urandom:9; do
	mknod -m 666 "$WARD_TMP/dev/${d%:*}" c 1 "${d#*:}"
done
dev=$WARD_TMP/dev
project p
chmod 777 p
cd p || exit 1

# state: of all of them
state() { stat -c '%n %Y %Z %U %a' "$dev"/*; }
old() { touch -d '2001-02-03 04:05:06' "$dev"/*; }
attack='
import os, sys
for fd in 0, 1, 2:
    for act in (lambda: os.utime(fd), lambda: os.utime("/proc/self/fd/%d" % fd), lambda: os.fchmod(fd, 0o777),
                lambda: os.utime(os.open("/proc/self/fd/%d" % fd, os.O_WRONLY))):
        try:
            act()
        except OSError:
            pass
'
old
before=$(state)
"$WARDFS" run --mode none -- python3 -c "$attack" <"$dev/zero" >"$dev/null" 2>>"$dev/full"
[ "$(state)" != "$before" ] || fail "control: nothing was touched"
old
before=$(state)
"$WARDFS" run -- python3 -c "$attack" <"$dev/zero" >"$dev/null" 2>>"$dev/full"
"$WARDFS" run -- python3 -c "$attack" <>"$dev/random" >"$dev/urandom" 2<>"$dev/null"
"$WARDFS" run -- sh -c 'touch /dev/stdin || :; touch -h -c /dev/fd/1 || :' <>"$dev/null" >"$dev/null" 2>"$dev/null"
"$WARDFS" run --keep --session devices -- true
trap '"$WARDFS" kill devices >/dev/null 2>&1 || :' EXIT
"$WARDFS" exec devices python3 -c "$attack" <"$dev/zero" >"$dev/null" 2>"$dev/full"
[ "$(state)" = "$before" ] || fail "touched: $(state), before: $before"

# They are what they were for all else.
expect 0 "$WARDFS" run -- sh -c 'head -c 5 | od -An -tx1' <"$dev/zero"
has "$OUT" "00 00 00 00 00"
expect 0 "$WARDFS" run -- sh -c 'cat; echo read all' <"$dev/null"
[ "$OUT" = "read all" ] || fail "null: $OUT"
expect 0 "$WARDFS" run -- sh -c 'head -c 100 | wc -c' <"$dev/urandom"
has "$OUT" 100
if "$WARDFS" run -- sh -c 'printf x 2>err' >"$dev/full"; then fail "full takes bytes"; fi
expect 0 "$WARDFS" exec devices sh -c 'head -c 5 | od -An -tx1' <"$dev/zero"
has "$OUT" "00 00 00 00 00"
# For reading alone stays so.
expect 1 "$WARDFS" run -- sh -c 'echo x >&0 2>err' <"$dev/null"
