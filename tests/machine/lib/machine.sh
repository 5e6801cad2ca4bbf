# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016
# For the tests that only booted machines run. They are the machine's root.
set -eu
. "$WARD_SRC/tests/lib.sh"
OWNER=agent-owner # uid and gid 1000; tests/vm/vm.py makes this user

# manager: starts the user's manager, as a login would. Call it first: where the runner made this
# test's mounts before the manager's directory was mounted, the script starts over with new mounts.
manager() {
	loginctl enable-linger $OWNER
	wait_until 300 test -S /proc/1/root/run/user/1000/systemd/private ||
		fail "no user manager: $(systemctl status user@1000)"
	[ -S /run/user/1000/systemd/private ] || exec nsenter --mount --target 1 \
		unshare --mount --propagation private sh -c 'cd "$WARD_TMP" && mount --make-rshared / && exec sh "$0"' "$0"
}

# home DIR: makes an empty home of the user.
home() {
	mkdir -p "$1"
	chmod 755 "$1" "$WARD_TMP"
	chown 1000:1000 "$1"
}

# owner HOME SCRIPT [ARG...]: runs the sh script as the machine's ordinary user, in that home.
owner() {
	(
		cd "$1" || exit 1
		HOME=$1
		WARD_TMP=$1
		script=$2
		shift 2
		unset XDG_STATE_HOME XDG_CONFIG_HOME TMPDIR
		export HOME WARD_TMP
		unset XDG_RUNTIME_DIR
		[ ! -d /run/user/1000 ] || export XDG_RUNTIME_DIR=/run/user/1000
		exec setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all sh -c '
			set -eu
			. "$WARD_SRC/tests/lib.sh"
			'"$script" sh "$@"
	)
}

# A session of the present user does what sessions are for: it builds, it is refused what the policy
# denies, and verify finds its trail intact. The controls are outside of the guard. In a script:
#     $session DIR [OPTION...]      DIR: makes a project there
session='
session() {
	mkdir "$1"
	project "$1/p"
	mkdir "$1/p/out" "$1/p/fixed"
	echo hush >"$1/p/denied"
	echo old >"$1/p/fixed/file"
	printf "[policy]\nversion = 1\nextends = medium\n[files]\ndeny = /workspace/denied\nread = /workspace/fixed\n" >"$1/policy"
	cp "$WARD_SRC/tests/machine/lib/session.py" "$1/p/"
	into=$1
	shift
	(
		cd "$into/p" || exit 1
		expect 0 "$WARDFS" run --policy ../policy "$@" -- python3 session.py
		[ "$OUT" = "all done" ] || fail "inside: $OUT $ERR"
		[ "$(cat out/moved)" = "one two" ] || fail "outside: $(cat out/moved)"
		[ "$(git rev-list --count HEAD)" -eq 1 ] || fail "no commit"
		[ "$(cat denied fixed/file)" = "hush
old" ] || fail "control: what was denied: $(cat denied fixed/file)"
		echo new >fixed/file || fail "control: it can be written outside"
		"$WARDFS" audit denials >told
		has "$(cat told)" /workspace/denied
		has "$(cat told)" /workspace/fixed
		expect 0 "$WARDFS" audit verify
	)
}
'
