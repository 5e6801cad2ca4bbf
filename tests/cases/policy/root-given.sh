#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sudo wardfs run --policy FILE: FILE is root's word, and wardfs still reads the project's files
# with the owner's rights. Files that an agent put into a repository lead root to no file that its
# owner may not read, and open no pipe.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
chmod 755 "$WARD_TMP"
project p
cd p || exit 1
writer=
trap '[ -z "$writer" ] || kill "$writer" 2>/dev/null || :' EXIT
mkdir ../roots-own
printf '[policy]\nversion = 1\nextends = medium\n' >../roots-own/given.policy
chmod 600 ../roots-own/given.policy
chmod 700 ../roots-own
export SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=t4711
guards() { expect "$1" "$WARDFS" policy explain --policy ../roots-own/given.policy write named-by-root/x; }

echo "--- the configuration names a file of root's: what that says is no guard, and not told"
printf '[core]\n\thooksPath = named-by-root\n' >roots
git config include.path ../roots
chown -R 4711:4711 .
chown 0:0 roots
chmod 644 roots
guards 1
has "$OUT" "guard] read = /workspace/named-by-root"
chmod 600 roots
guards 0
# Nobody knows what it names, so none of the git directory can be written.
expect 1 "$WARDFS" policy explain --policy ../roots-own/given.policy write .git/objects/x
has "$OUT" "guard] read = /workspace/.git"
expect 0 "$WARDFS" run --policy ../roots-own/given.policy -- true
expect 2 "$WARDFS" run --policy ../roots-own/given.policy -- sh -c 'echo x >.git/description'
rm roots
git config --unset include.path
chown -R 4711:4711 .git
expect 0 "$WARDFS" run --policy ../roots-own/given.policy -- sh -c 'echo x >.git/objects/x'

echo "--- a project file of root's is not quoted"
echo '[roots-secret]' >.wardfs.policy
chmod 644 .wardfs.policy
expect 2 "$WARDFS" run --policy ../roots-own/given.policy -- true
has "$ERR" roots-secret
chmod 600 .wardfs.policy
for verb in "run --policy ../roots-own/given.policy -- true" "policy show --policy ../roots-own/given.policy"; do
	# shellcheck disable=SC2086 # several words
	expect 2 "$WARDFS" $verb
	has "$ERR" "Permission denied"
	hasnt "$ERR$OUT" roots-secret
done
rm .wardfs.policy

echo "--- a pipe in the place of a configuration is not opened: whoever waits at its other end goes on waiting"
mv .git/config ../config
mkfifo .git/config
chown 4711:4711 .git/config
wait_at_pipe() {
	sh -c 'echo >../begun; exec 3>.git/config; echo >../opened' &
	writer=$!
	begun() { [ -e ../begun ] && grep -q '^State:.S' "/proc/$writer/status"; }
	wait_until 60 begun || fail "the writer does not begin"
}
wait_at_pipe
expect 0 "$WARDFS" run --policy ../roots-own/given.policy -- true
expect 0 "$WARDFS" policy show --policy ../roots-own/given.policy
[ ! -e ../opened ] || fail "wardfs opened the pipe"
: <.git/config
is_open() { [ -e ../opened ]; }
wait_until 60 is_open || fail "control: opening it is not noticed"
wait "$writer"
writer=
