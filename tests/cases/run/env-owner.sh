#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Root's environment does not reach another owner through that owner's policy file. Only root's
# own words pass variables on, and under sudo only exact names. Each case has its control.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
project p
chown -R 4711:4711 p
cd p || exit 1
export ROOTS_TOKEN=hunter2hunter2 OTHER_SECRET=swordfish7 LC_NUMERIC=C TZ=UTC
# The owner's file is found by the account's home: an entry in a passwd of the test's own.
mkdir -p ../home/.config/wardfs/projects
chmod 755 "$WARD_TMP" ../home
sed '/^[^:]*:[^:]*:4711:/d' /etc/passwd >../passwd
printf 'wardowner:x:4711:4711::%s/home:/bin/sh\n' "$WARD_TMP" >>../passwd
file=$WARD_TMP/home/.config/wardfs/projects/$(cd "$WARD_TMP/p" && pwd | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy

# owns LINES: the owner's file for the project.
owns() {
	printf '[policy]\nversion = 1\nextends = medium\n%b\n' "$1" >"$file"
	chown -R 4711:4711 ../home
}
# by_root CMD...: where the account has that home.
by_root() {
	unshare --mount --propagation private sh -c '
		mount --bind "$WARD_TMP/passwd" /etc/passwd
		exec "$@"' sh "$@"
}
# sudo CMD...: as sudo of that owner does.
by_sudo() {
	SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=wardowner by_root "$@"
}

# The attack: everything of root's, by `*`, by a glob, by the name.
for pass in '*' 'ROOTS_*' 'ROOTS_TOKEN'; do
	owns "[env]\npass = $pass"
	expect 0 by_root "$WARDFS" run -- env
	has "$OUT" TZ=UTC
	has "$OUT" LC_NUMERIC=C
	hasnt "$OUT" hunter2
	hasnt "$OUT" swordfish7
	case $pass in ROOTS*) has "$ERR" ROOTS_TOKEN ;; esac
	has "$ERR" "--env NAME passes one"
	[ "$(printf '%s\n' "$ERR" | grep -c -e '--env')" = 1 ] || fail "more than a line: $ERR"
	hasnt "$ERR" hunter2
	expect 0 by_root "$WARDFS" run --dry-run -v -- true
	printf '%s\n' "$OUT" | grep -q '^ *TZ' || fail "control: no variable is listed"
	! printf '%s\n' "$OUT" | grep -q '^ *ROOTS_TOKEN' || fail "rehearsed: ROOTS_TOKEN"
	has "$ERR" "--env NAME passes one"
	# --env is the caller's word.
	expect 0 by_root "$WARDFS" run --env ROOTS_TOKEN -- env
	has "$OUT" ROOTS_TOKEN=hunter2hunter2
	hasnt "$OUT" swordfish7
done

# The control: --policy is root's word; the owner's own session has what the file says.
cp "$file" ../roots.policy
expect 0 by_root "$WARDFS" run --policy ../roots.policy -- env
has "$OUT" ROOTS_TOKEN=hunter2hunter2
hasnt "$ERR" "--env NAME"
# Root as its own owner as well.
project "$WARD_TMP/q"
cd ../q || exit 1
by_root "$WARDFS" init >/dev/null 2>&1
printf '[env]\npass = OTHER_*\n' >>"$(ls "$XDG_CONFIG_HOME"/wardfs/projects/*-q.policy)"
expect 0 by_root "$WARDFS" run -- env
has "$OUT" swordfish7
hasnt "$ERR" "--env NAME"
cd ../p || exit 1

# Under sudo of that owner: exact names as before, no wildcards but LC_*.
owns "[env]\npass = ROOTS_TOKEN\npass = OTHER_*"
expect 0 by_sudo "$WARDFS" run -- env
has "$OUT" ROOTS_TOKEN=hunter2hunter2
has "$OUT" LC_NUMERIC=C
hasnt "$OUT" swordfish7
has "$ERR" OTHER_SECRET
hasnt "$ERR" ROOTS_TOKEN
# Under sudo of somebody else the file is still another's.
SUDO_UID=4712 SUDO_GID=4712 SUDO_USER=x expect 0 by_root "$WARDFS" run --user wardowner -- env
hasnt "$OUT" hunter2
# Nothing is said where nothing was held back.
owns "[env]\npass = NO_SUCH_VARIABLE"
expect 0 by_root "$WARDFS" run -- true
[ -z "$ERR" ] || fail "said: $ERR"
