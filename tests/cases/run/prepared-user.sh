#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [session] warm of an ordinary user: taken, fresh, recorded. Another user's are not seen.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root to become another user"
as_user -c '
	. "$WARD_SRC/tests/lib.sh"
	mkdir -p p run .config/wardfs/projects
	chmod 700 run
	export XDG_RUNTIME_DIR=$PWD/run
	cd p
	git init -q .
	file=../.config/wardfs/projects/$(pwd | sed "s,^/,,; s/-/\\\\x2d/g; s,/,-,g").policy
	printf "[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n[session]\nwarm = 1\n" >"$file"
	one() { [ "$(find "$XDG_RUNTIME_DIR/wardfs/.warm" -type f ! -name lock 2>/dev/null | wc -l)" = 1 ]; }
	"$WARDFS" run -- true </dev/null 2>/dev/null
	wait_until 240 one
	member=$(find "$XDG_RUNTIME_DIR/wardfs/.warm" -type f ! -name lock | sed "s|.*\.||")
	[ "$("$WARDFS" run -- sh -c "echo \$WARDFS_SESSION; echo x >\$HOME/left" </dev/null 2>/dev/null)" = "$member" ]
	"$WARDFS" audit show --json --kind take "$member" | grep -q "\"uid\":4711"
	wait_until 240 "$WARDFS" audit verify "$member"
	wait_until 240 one
	"$WARDFS" run -- sh -c "[ ! -e \$HOME/left ]" </dev/null 2>/dev/null
	wait_until 240 one
	for s in $(find "$XDG_RUNTIME_DIR/wardfs/.warm" -type f ! -name lock | sed "s|.*\.||"); do
		"$WARDFS" kill "$s"
	done
' || fail "as an ordinary user"
