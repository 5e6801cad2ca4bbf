#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the engine, wardfs, pid 1 or the container's pid 1 at any moment leaves no process,
# mount, control group or container.
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v runc >/dev/null || skip 'no runc (Debian package runc)'
work=$WARD_TMP/work
project "$work"
cd "$work"
# Control: undisturbed it runs, and the mounts of the host are as before.
mounts=$(cat /proc/self/mountinfo)
expect 0 "$WARDFS" run --engine runc -- true
engines=runc
if command -v runsc >/dev/null; then engines='runc runc runc runsc'; fi
# These have more processes to kill: conmon, a daemon, a shim.
if command -v podman >/dev/null; then engines="$engines podman podman"; fi
if command -v dockerd >/dev/null; then engines="$engines docker docker"; fi
expect 0 python3 "$WARD_SRC/tests/cases/run/lib/docker-killed-at-any-moment.py" "$WARDFS" "${ROUNDS:-24}" \
	$engines
has "$OUT" 'nothing left'
[ "$(cat /proc/self/mountinfo)" = "$mounts" ] || fail 'a mount was left on the host'
expect 0 "$WARDFS" run --engine runc -- true
