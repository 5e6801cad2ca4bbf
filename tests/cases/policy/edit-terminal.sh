#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: the owner's editor leaves a process behind that reads what root types next. It gets
# nothing after root's `policy edit` in a user's project. The editor starts outside the project.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
chmod 755 "$WARD_TMP"
home=$WARD_TMP/home
lib=$WARD_SRC/tests/cases/policy/lib
mkdir "$home"
git init -q "$home/theirs"
cp "$lib/edit-terminal-thief.py" "$home/thief.py"
cat >"$home/editor" <<'END'
#!/bin/sh
# Ends when the thief has the terminal, or has ended.
home=$(dirname "$0")
pwd >"$home/where"
python3 "$home/thief.py" "$home/front" "$home/stolen" </dev/null >"$home/thief.log" 2>&1 &
n=0
while [ ! -e "$home/front" ] && kill -0 $! && [ $n -lt 1200 ]; do
	n=$((n + 1))
	sleep 0.1
done
END
chmod 755 "$home/editor"
chmod 644 "$home/thief.py"
chown -R 4711:4711 "$home"
export HOME_THEIRS="$home"
unset XDG_CONFIG_HOME VISUAL
theirs() {
	unshare --mount sh -c '
		printf "them:x:4711:4711::%s:/bin/sh\n" "$HOME_THEIRS" | cat - /etc/passwd >"$HOME_THEIRS/../passwd"
		mount --bind "$HOME_THEIRS/../passwd" /etc/passwd
		exec "$@"' sh env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=them EDITOR="$home/editor" "$@"
}
cd "$home/theirs"
expect 0 theirs "$WARDFS" policy add read /workspace/src
echo "--- the control: the same editor on root's own terminal"
expect 0 theirs python3 "$lib/edit-terminal-drive.py" "$home/stolen" \
	setpriv --reuid=4711 --regid=4711 --clear-groups "$home/editor" file
[ "$OUT" = thief ] || fail "control: $OUT $(cat "$home/thief.log")"
[ "$(cat "$home/where")" = "$home/theirs" ] || fail "control: it starts where root is"
rm "$home/front" "$home/stolen"
echo "--- policy edit"
expect 0 theirs python3 "$lib/edit-terminal-drive.py" "$home/stolen" "$WARDFS" policy edit
[ "$OUT" = caller ] || fail "$OUT"
[ -e "$home/front" ] || fail "the thief had no terminal: $(cat "$home/thief.log")"
[ ! -e "$home/stolen" ] || fail "read: $(cat "$home/stolen")"
[ "$(cat "$home/where")" = "$home/.config/wardfs/projects" ] || fail "starts in $(cat "$home/where")"
echo "--- without a terminal, too; nothing of the editor is left"
rm "$home/front"
cat >"$home/editor" <<'END'
#!/bin/sh
sleep 600 &
readlink /proc/self/ns/pid >"$(dirname "$0")/space"
END
expect 0 theirs "$WARDFS" policy edit </dev/null
has "$OUT" unchanged
space=$(cat "$home/space")
[ "$space" != "$(readlink /proc/self/ns/pid)" ] || fail "control: a pid namespace of its own"
for p in /proc/[0-9]*/ns/pid; do
	[ "$(readlink "$p" 2>/dev/null)" != "$space" ] || fail "left behind: $p"
done
