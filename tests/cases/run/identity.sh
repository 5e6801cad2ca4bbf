#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command never runs as uid 0 of the host. Created files belong to the owner. Under sudo, the
# owner is the user who called it.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
project p
cd p || exit 1

expect 0 "$WARDFS" run -- sh -c 'id -u; grep ^Uid /proc/self/status; touch made; mkdir d; ls -ln made | cut -d" " -f3'
uid=$(printf '%s\n' "$OUT" | head -n 1)
[ "$uid" -ne 0 ] || fail "the agent is uid 0"
[ "$(printf '%s\n' "$OUT" | tail -n 1)" = "$uid" ] || fail "its own file is not its own inside: $OUT"
[ "$(stat -c %u made)" = 0 ] || fail "the owner's file belongs to $(stat -c %u made)"
[ "$(stat -c %u d)" = 0 ] || fail "the owner's directory belongs to $(stat -c %u d)"

# The same id in the next session (git reads every file again when its uid changed).
expect 0 "$WARDFS" run -- id -u
[ "$OUT" = "$uid" ] || fail "another id in the next session: $OUT, first $uid"

# From outside: the process really has another uid on the host.
mark=9$$7
"$WARDFS" run -- sleep "$mark" &
sup=$!
wait_until 60 pgrep -P "$sup" || fail "nothing started"
uid_of_sleep() {
	host=$(ps -e -o uid=,args= | awk -v mark="$mark" '$2 == "sleep" && $3 == mark {print $1}')
	[ -n "$host" ]
}
wait_until 60 uid_of_sleep || fail "no command"
[ "${host:-0}" -ne 0 ] || fail "uid on the host: $host"
kill "$sup"
expect 143 wait "$sup"

# sudo: the invoking user is the owner, also for what is created.
chown -R 4711:4711 .
SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=u expect 0 "$WARDFS" run -- sh -c 'id -u; touch theirs'
has "$OUT" 4711
[ "$(stat -c %u:%g theirs)" = 4711:4711 ] || fail "$(stat -c %u:%g theirs)"
# And what other commands write where they are told to; not in a place of root's, nor a file that
# was there.
export SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=u
: >old.html
mkdir ../roots
expect 0 "$WARDFS" audit report -o theirs.html
expect 0 "$WARDFS" audit report --force -o "$PWD/old.html"
expect 0 "$WARDFS" audit report -o ../roots/report.html
expect 0 "$WARDFS" audit bundle -o theirs.tar
expect 0 "$WARDFS" learn --write=theirs.policy -- cat theirs
expect 2 "$WARDFS" learn --write=theirs.policy -- cat theirs
has "$ERR" "theirs.policy exists already"
unset SUDO_UID SUDO_GID SUDO_USER
[ "$(stat -c '%n %u:%g' theirs.* old.html ../roots/report.html | tr '\n' ' ')" = \
	"theirs.html 4711:4711 theirs.policy 4711:4711 theirs.tar 4711:4711 old.html 0:0 ../roots/report.html 0:0 " ] ||
	fail "$(stat -c '%n %u:%g' theirs.* old.html ../roots/report.html)"
# Without sudo, as root in somebody else's directory: the owner of the source.
expect 0 "$WARDFS" run -- id -u
has "$OUT" 4711
# The guard cannot do more than that owner may do on the host (control: root's may).
echo secret >../root-only
chmod 600 ../root-only
mv ../root-only .
expect 1 "$WARDFS" run -- cat root-only
chown 4711 root-only
expect 0 "$WARDFS" run -- cat root-only
has "$OUT" secret
exit 0
