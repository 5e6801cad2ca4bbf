#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Parts of the kernel that are not there: a missing guarantee refuses by name and says the fix, a
# missing second layer is told.
set -eu
. "$(dirname "$0")/lib.sh"
KNOCKOUT=$WARD_BUILD/tests/support/knockout

without() { # without WHAT TEXT: refused, with this text
	out=$("$KNOCKOUT" "$1" -- "$RUN" -- echo ran 2>"$WARD_TMP/err") && rc=0 || rc=$?
	[ "$rc" = 125 ] && [ -z "$out" ] || fail "$1: exit code $rc, \"$out\""
	grep -q -- "$2" "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
}

[ "$("$RUN" -- echo ran)" = ran ] || fail "control: whole"
[ "$("$KNOCKOUT" ustat=ENOSYS -- "$RUN" -- echo ran)" = ran ] || fail "control: something unneeded is gone"

without openat2=ENOSYS "openat2(2) is refused or missing; fix: "
without openat2=EPERM "openat2(2) is refused or missing; fix: "
without unshare=EPERM "namespace.*fix: "
without unshare=ENOSPC "user.max_user_namespaces.*fix: \|mount namespace"
without seccomp=ENOSYS "system call filter.*fix: "
without open_tree=ENOSYS "new mount calls.*fix: "
without mount_setattr=ENOSYS "new mount calls.*fix: "
without fsopen=ENOSYS "new mount calls.*fix: "
without move_mount=ENOSYS "new mount calls.*fix: "
without pivot_root=EPERM "pivot_root"

# Landlock is a second layer: told, and everything else holds.
"$KNOCKOUT" landlock_create_ruleset=ENOSYS -- "$RUN" --facts --probes -- echo ran \
	>"$WARD_TMP/out" 2>"$WARD_TMP/err" || fail "without Landlock: $(cat "$WARD_TMP/err")"
[ "$(cat "$WARD_TMP/out")" = ran ] || fail "without Landlock: it did not run"
grep -q "^landlock 0 " "$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
grep -q "^probe landlock: skipped" "$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
grep -q "^probe read-only: held" "$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
# A kernel without keys has none to keep apart: told as well.
"$KNOCKOUT" keyctl=ENOSYS -- "$RUN" --facts -- true 2>"$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
grep -q "keyring 0" "$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
without keyctl=EPERM "session keyring"
