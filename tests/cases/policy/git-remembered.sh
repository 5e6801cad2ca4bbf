#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs remembers the guards of repositories. A session removes what makes a directory look like
# a bare repository; the next session still cannot write its hooks. As an ordinary user, and by
# root for that user.
# timeout: 600
# shellcheck disable=SC2016 # expanded by the shell inside
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" = inside ]; then
	# An account for uid 4711, in a private mount namespace; root starts sessions for it, as
	# under sudo.
	home=$WARD_TMP/home
	state=$home/.local/state
	sed '/:4711:/d' /etc/passwd >"$WARD_TMP/passwd"
	echo "t4711:x:4711:4711::$home:/bin/sh" >>"$WARD_TMP/passwd"
	mount --bind "$WARD_TMP/passwd" /etc/passwd
	rm -rf "${home:?}/.local" "$home/p"
	project "$home/p"
	git init -q --bare "$home/p/lib.git"
	chown -R 4711:4711 "$home"
	export SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=t4711
	cd "$home/p"
	echo "--- root keeps it where the owner does, as the owner"
	expect 0 "$WARDFS" run -- mv lib.git/HEAD moved
	file=$(find "$state/wardfs/guards/4711" -type f ! -name lock ! -name '.*')
	[ "$(stat -c %u:%a "$file")" = 4711:600 ] || fail "$(stat -c '%u %a %n' "$file")"
	expect 2 "$WARDFS" run -- sh -c 'echo evil >>lib.git/config'
	has "$ERR" "$home/p/lib.git was a repository"
	echo "--- no session gets at it"
	refused 'remembered guards' "$WARDFS" run --write "$state/wardfs/guards" -- true
	refused 'remembered guards' "$WARDFS" run --write "$home/.local" -- true
	expect 0 "$WARDFS" run --write "$home/p" -- true
	echo "--- a link leads root nowhere where the owner may not go: root's own state directory has it then"
	for link in "$state" "$state/wardfs" "$state/wardfs/guards" "$state/wardfs/guards/4711"; do
		rm -rf "$WARD_TMP/roots" "$XDG_STATE_HOME/wardfs/guards"
		mkdir -m 755 "$WARD_TMP/roots"
		rm -rf "$link"
		mkdir -p "${link%/*}"
		chown -R 4711:4711 "$home/.local"
		ln -s "$WARD_TMP/roots" "$link"
		mv moved lib.git/HEAD
		expect 0 "$WARDFS" run -- mv lib.git/HEAD moved
		[ -z "$(ls -A "$WARD_TMP/roots")" ] || fail "$link led root: $(find "$WARD_TMP/roots")"
		expect 2 "$WARDFS" run -- sh -c 'echo evil >>lib.git/config'
		has "$ERR" "$home/p/lib.git was a repository"
		expect 0 "$WARDFS" policy forget lib.git
		rm "$link"
	done
	exit 0
fi
cat >remembered.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
git_identity
top=$PWD
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >"$top/open.policy"
guards=$HOME/.local/state/wardfs/guards

set_up() {
	cd "$top"
	rm -rf p
	mkdir p
	cd p
	git init -q .
	git init -q --bare v/lib.git
	mkdir -p v/other
}
evil='mkdir -p v/lib.git/hooks; echo evil >v/lib.git/hooks/update && echo evil >>v/lib.git/config'
written() { grep -qs evil v/lib.git/hooks/update v/lib.git/config; }

for part in HEAD objects refs; do
	echo "--- $part goes in one session, the hook comes in the next"
	set_up
	"$WARDFS" run --policy "$top/open.policy" -- mv "v/lib.git/$part" v/other
	"$WARDFS" run --policy "$top/open.policy" -- sh -c "$evil" && written || fail "control: nothing was written"
	set_up
	expect 0 "$WARDFS" run -- mv "v/lib.git/$part" v/other
	expect 2 "$WARDFS" run -- sh -c "$evil"
	! written || fail "$part: the next session wrote into v/lib.git"
	has "$ERR" "v/lib.git"
	has "$ERR" 'wardfs policy forget'
	expect 0 "$WARDFS" run --policy "$top/open.policy" -- true
	run_says=$ERR
	mkdir -p "$top/mnt"
	if [ "$(id -u)" -eq 0 ]; then
		expect 0 "$WARDFS" mount --policy "$top/open.policy" "$top/p" "$top/mnt"
		has "$ERR" 'wardfs policy forget'
		has "$run_says" "$ERR"
		expect 0 "$WARDFS" umount "$top/mnt"
	fi
	# And the session after that.
	expect 2 "$WARDFS" run -- sh -c "$evil"
	! written || fail "$part: the third session wrote into v/lib.git"
done

echo "--- what check and explain say, and JSON"
expect 0 "$WARDFS" policy check
has "$OUT" 'v/lib.git: note: remembered'
has "$OUT" "wardfs policy forget $top/p/v/lib.git"
expect 1 "$WARDFS" policy explain write v/lib.git/config
has "$OUT" 'remembered'
has "$OUT" "wardfs policy forget $top/p/v/lib.git"
expect 1 "$WARDFS" policy explain write .git/config
hasnt "$OUT" 'remembered'
expect 1 "$WARDFS" policy explain --json write v/lib.git/config
has "$OUT" '"remembered"'

echo "--- a name that an agent chose stays one word of the command that check, explain and run print"
command_in() { printf '%s\n' "$OUT$ERR" | sed -n 's/.*wardfs policy forget //p' | grep "touch" | head -n 1; }
expect 0 "$WARDFS" run -- git init -q --bare 'v/a;touch hit;b.git'
expect 0 "$WARDFS" run -- mv 'v/a;touch hit;b.git/HEAD' v/other
expect 0 "$WARDFS" policy check
printed=$(command_in)
printed=${printed%)}
rm -f hit
sh -c "printf '%s\\n' $printed" >../word || :
[ ! -e hit ] && [ "$(cat ../word)" = "$top/p/v/a;touch hit;b.git" ] || fail "check printed: $printed"
expect 1 "$WARDFS" policy explain write 'v/a;touch hit;b.git/config'
printed=$(command_in)
sh -c "printf '%s\\n' $printed" >../word || :
[ ! -e hit ] && [ "$(cat ../word)" = "$top/p/v/a;touch hit;b.git" ] || fail "explain printed: $printed"
expect 2 "$WARDFS" run -- sh -c 'echo evil >>"v/a;touch hit;b.git/config"'
printed=$(command_in)
sh -c "printf '%s\\n' $printed" >../word || :
[ ! -e hit ] && [ "$(cat ../word)" = "$top/p/v/a;touch hit;b.git" ] || fail "run printed: $printed, of $ERR"
rm -r 'v/a;touch hit;b.git'
rm -f v/other/HEAD

echo "--- it is kept while it cannot be looked at, and dropped when it is gone"
chmod 000 v
expect 0 "$WARDFS" run -- true
chmod 755 v
expect 0 "$WARDFS" policy check
has "$OUT" 'v/lib.git: note: remembered'
mv v/lib.git "$top/lib.git"
ln -s "$top" v/lib.git
expect 0 "$WARDFS" run -- true
expect 0 "$WARDFS" policy check
has "$OUT" 'v/lib.git: note: remembered'
rm v/lib.git
expect 0 "$WARDFS" run -- true
mv "$top/lib.git" v
expect 0 "$WARDFS" policy check
hasnt "$OUT" 'remembered'
expect 0 "$WARDFS" run -- sh -c "$evil"

echo "--- a rehearsal and a look remember nothing"
set_up
rm -rf "$guards"
expect 0 "$WARDFS" run --dry-run -- true
expect 0 "$WARDFS" policy check
[ -z "$(find "$guards" -type f 2>/dev/null)" ] || fail "a look has written: $(find "$guards")"

echo "--- forget: one path, then it is no repository for the next session; one that looks like one is found again"
expect 0 "$WARDFS" run -- mv v/lib.git/HEAD v/other
expect 2 "$WARDFS" run -- sh -c "$evil"
refused 'remembers nothing' "$WARDFS" policy forget v/nothing
expect 0 "$WARDFS" policy forget v/lib.git
has "$OUT" "$top/p/v/lib.git"
expect 0 "$WARDFS" policy check
hasnt "$OUT" 'remembered'
expect 0 "$WARDFS" run -- sh -c "$evil"
written || fail "control: what was forgotten is still guarded"

echo "--- a project beneath, and one above: paths are those of the host"
set_up
expect 0 "$WARDFS" run -- true
mv v/lib.git/HEAD v/other
mkdir -p "$HOME/.config/wardfs/projects"
(cd v && expect 0 "$WARDFS" init --force >/dev/null && expect 2 "$WARDFS" run -- sh -c 'echo evil >>lib.git/config')
! written || fail "a project beneath wrote into lib.git"
rm -rf "$HOME/.config/wardfs/projects"

echo "--- a session started beside it reloads: the guards stay"
set_up
expect 0 "$WARDFS" run -- mv v/lib.git/refs v/other
mkfifo "$top/go"
"$WARDFS" run -s reloaded -- sh -c 'read x; echo evil >>v/lib.git/config' <"$top/go" 2>"$top/err" &
run=$!
exec 8>"$top/go"
is_up() { [ -n "$(status_of reloaded session)" ]; }
wait_until 60 is_up
expect 0 "$WARDFS" policy reload reloaded medium
echo x >&8
exec 8>&-
wait "$run" || :
rm "$top/go"
! written || fail "the guards were gone after a reload: $(cat "$top/err")"

echo "--- what was remembered and cannot be read refuses the start by name"
file=$(find "$guards" -type f ! -name lock ! -name '.*' | head -n 1)
[ -n "$file" ] || fail "nothing was remembered in $guards"
cp "$file" "$top/good"
for bad in '' 'wardfs-guards 2\0' 'wardfs-guards 1\0t /x' 'wardfs-guards 1\0t x\0' 'wardfs-guards 1\0t /x\0b ../y\0' \
	'wardfs-guards 1\0t /x\0q y\0' 'wardfs-guards 1\0b y\0' 'wardfs-guards 1\0t /x\0b \0' 'wardfs-guards 1\0t /x\0b /y\0'; do
	printf "$bad" >"$file"
	expect 2 "$WARDFS" run -- true
	has "$ERR" "$file"
done
cp "$top/good" "$file"
expect 0 "$WARDFS" run -- true
rm "$file"
ln -s "$top/good" "$file"
refused "$file" "$WARDFS" run -- true
rm "$file"
S
mkdir -p home
cp remembered.sh home
as_user "$WARD_TMP/home/remembered.sh"
unshare --mount --propagation private sh "$0" inside
