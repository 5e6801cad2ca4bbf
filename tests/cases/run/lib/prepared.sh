# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# What the cases of prepared sessions share.
set -eu
. "$WARD_SRC/tests/lib.sh"

# A mount of somebody else on this machine is another host for wardfs. Here nobody else mounts.
if [ -z "${WARD_OWN_MOUNTS:-}" ] && [ "$(id -u)" = 0 ]; then
	export WARD_OWN_MOUNTS=1
	exec unshare --mount --propagation private sh "$0" "$@"
fi

# Where the sessions that wait are listed.
PLACE=$XDG_RUNTIME_DIR/wardfs/.warm

# warm_policy N [LINE...]: the owner's file for the project in the current directory, with N
# prepared sessions and these lines behind it.
warm_policy() {
	expect 0 "$WARDFS" run --dry-run --json -- true
	FILE=$XDG_CONFIG_HOME/wardfs/projects/$(pwd | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy
	mkdir -p "$(dirname "$FILE")"
	printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n[session]\nwarm = %s\n' "$1" >"$FILE"
	shift
	for line in "$@"; do
		printf '%s\n' "$line" >>"$FILE"
	done
}

# waiting: the names of the sessions that wait.
waiting() {
	find "$PLACE" -type f ! -name lock 2>/dev/null | sed 's|.*/[0-9a-f]*\.[0-9a-f]*\.||'
}

# waits N: exactly N wait.
waits() {
	[ "$(waiting | wc -l)" = "$1" ]
}

# fill: has a session prepared, and sets MEMBER to its name.
fill() {
	# One that an earlier run wants may be on its way, for what was in force then.
	sleep 0.3
	wait_until 120 no_preparer
	waits 0 || drain
	"$WARDFS" run -- true </dev/null >/dev/null 2>&1 || fail "a first run"
	wait_until 120 waits 1 || fail "nothing was prepared"
	MEMBER=$(waiting)
}

# drain: ends all that wait.
drain() {
	wait_until 120 no_preparer || :
	for s in $(waiting); do
		"$WARDFS" kill "$s" >/dev/null 2>&1 || :
	done
	wait_until 120 waits 0 || fail "they do not end: $(waiting)"
}

# No process of this test prepares a session any more: each holds the test's directory.
no_preparer() {
	for p in $(pgrep -f -- ' run --prepare='); do
		[ "$(readlink "/proc/$p/cwd" 2>/dev/null)" = "$PWD" ] || continue
		"$WARDFS" ps --json | grep -q "\"pid\": $p," || return 1
	done
	return 0
}

# taken SESSION: its trail has a take.
taken() {
	"$WARDFS" audit show --json --kind take "$1" 2>/dev/null | grep -q '"kind":"take"'
}

# run_in CMD...: runs it, without a terminal. Sets GOT to the status, OUT and ERR to the output,
# WAS to the name of the session that it ran in.
run_in() {
	GOT=0
	"$WARDFS" run "$@" </dev/null >"$WARD_TMP/out" 2>"$WARD_TMP/err" || GOT=$?
	OUT=$(cat "$WARD_TMP/out")
	ERR=$(cat "$WARD_TMP/err")
}
