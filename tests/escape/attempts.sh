#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The attempts of `wardfs attack` on the sandbox alone, without a guard and a session, as root and
# as an ordinary user. Each has its control outside.
# timeout: 600
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

# names FILE VERDICT: of all attempts with this verdict
names() {
	python3 -c '
import json, sys
for a in json.load(open(sys.argv[1]))["attempts"]:
    if a["verdict"] == sys.argv[2]: print(a["name"])' "$1" "$2"
}

# The limits are those of a policy.
# shellcheck disable=SC2016
ATTEMPTS='mkdir -p "$1/work" && cd "$1/work" &&
	exec "$WARD_BUILD/wardfs" attack --json --sandbox "$WARD_BUILD/tests/support/sandboxrun --processes 256 --files 1024 --bind {work}={work} --cwd {work} --"'

check() {
	mkdir -p "$WARD_TMP/$1"
	rc=0
	case $1 in
	root) sh -c "$ATTEMPTS" sh "$WARD_TMP/$1" >"$WARD_TMP/$1.json" || rc=$? ;;
	user)
		chown $TEST_UID "$WARD_TMP/$1"
		as_stranger sh -c "$ATTEMPTS" sh "$WARD_TMP/$1" >"$WARD_TMP/$1.json" || rc=$?
		;;
	esac
	[ "$rc" = 1 ] || fail "$1: exit $rc"
	# Debuggers turn randomisation off for their programs; redirected output is the session's to
	# close.
	printf '%s\n' error-before error-rewrite error-truncate personality >"$WARD_TMP/named"
	# The file of errors is the user's own, and root's is not the command's.
	[ "$1" = root ] || sed -i 2ierror-mode "$WARD_TMP/named"
	names "$WARD_TMP/$1.json" broken | sort >"$WARD_TMP/broken"
	diff "$WARD_TMP/named" "$WARD_TMP/broken" || fail "$1: other attempts are broken"
	# The workspace is read-only here: a link or a device in it is for sessions to try.
	# The last four have no control where the host, or a sanitizer, sets low limits.
	printf '%s\n' change-exchange change-replace git-config-replaced read-hardlink read-rename read-symlink \
		read-symlink-above write-hardlink write-symlink make-block-device make-device \
		lock-memory unmount change-user many-processes >"$WARD_TMP/named"
	names "$WARD_TMP/$1.json" untested | grep -vxFf "$WARD_TMP/named" >"$WARD_TMP/untested" || :
	[ ! -s "$WARD_TMP/untested" ] || fail "$1: untested: $(cat "$WARD_TMP/untested")"
	[ "$(names "$WARD_TMP/$1.json" held | wc -l)" -ge "$2" ] || fail "$1: few are held"
}
chmod 755 "$WARD_TMP"
! by_root || check root 240
check user 170
