#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What other users of the host could do to a run, or lose by it: a workspace that somebody else
# widened, a directory that the owner may not enter. Each with its control.
set -eu
[ "$(id -u)" -eq 0 ] || skip "needs root"
. "$WARD_SRC/tests/lib.sh"

# Somebody else's mark above does not widen the workspace.
mkdir -m 1777 shared
mkdir shared/mine
echo private >shared/private
chmod 600 shared/private
cd shared/mine || exit 1
expect 1 "$WARDFS" run -- cat ../private
setpriv --reuid=4711 --regid=4711 --clear-groups mkdir ../.git || fail "control: the mark could not be planted"
expect 1 "$WARDFS" run -- cat ../private
# Control: one's own mark above widens it.
mkdir -p ../../own/sub ../../own/.git
echo up >../../own/file
cd ../../own/sub || exit 1
expect 0 "$WARDFS" run -- cat ../file

# Root does not open directories for owners who may not enter them.
mkdir -p "$WARD_TMP/closed/pub" "$WARD_TMP/theirs"
echo closed >"$WARD_TMP/closed/pub/file"
chown -R 4711:4711 "$WARD_TMP/theirs"
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[tree /e]\nsource = %s\n[files]\nwrite = /workspace\nread = /e\n' \
	"$WARD_TMP/closed/pub" >"$WARD_TMP/theirs.policy"
cd "$WARD_TMP/theirs" || exit 1
expect 0 "$WARDFS" run --policy "$WARD_TMP/theirs.policy" -- cat /e/file
chmod 700 "$WARD_TMP/closed"
expect 125 "$WARDFS" run --policy "$WARD_TMP/theirs.policy" -- cat /e/file
exit 0
