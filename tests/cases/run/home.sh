#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A kept home: the project's later and parallel sessions find it, other projects and the host do
# not. It brings nothing that steers the next session, stays within its size, and `wardfs home
# clear` removes it, follows nothing and waits for nobody.
# shellcheck disable=SC2016,SC2088
set -eu
. "$WARD_SRC/tests/lib.sh"

cat >body.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
state=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs
[ -n "${XDG_STATE_HOME-}" ] || [ "$(id -u)" -ne 0 ] || state=/var/lib/wardfs
mkdir -p ~/a ~/b
cd ~/a || exit 1
git init -q . && git init -q ../b
for f in .npmrc .bashrc .profile .gitconfig; do
	echo "# of the host" >~/$f
done
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n' >../fresh.policy
printf '[policy]\nversion = 1\nextends = medium\n[home]\nsize = 64K\n' >../small.policy

# Kept, under medium; nothing of the owner's own is in it; 0700, and the owner's.
expect 0 "$WARDFS" run -- sh -c 'mkdir -p ~/.npm && echo warm >~/.npm/x; ls -A ~'
[ "$OUT" = .npm ] || fail "in a new home: $OUT"
expect 0 "$WARDFS" run -- sh -c 'cat ~/.npm/x; echo ~; getent passwd "$(id -u)"'
has "$OUT" "warm
/agent-home"
has "$OUT" ":/agent-home:"
expect 0 "$WARDFS" home list --json
home=$(printf %s "$OUT" | python3 -c 'import json, sys; h, = json.load(sys.stdin); print(h["path"])')
[ "$(stat -c '%a %u' "$home")" = "700 $(id -u)" ] || fail "$(stat -c '%a %u' "$home")"
[ "$(stat -c %u "$home/.npm/x")" = "$(id -u)" ] || fail "whose: $(stat -c %u "$home/.npm/x")"
case $home in "$state"/homes/*) ;; *) fail "where: $home, not in $state" ;; esac
# In memory it is gone, and the kept one is not seen.
expect 0 "$WARDFS" run --policy ../fresh.policy -- sh -c 'echo x >~/.mine; [ ! -e ~/.npm ] && [ ! -e /agent-home ]'
expect 1 "$WARDFS" run --policy ../fresh.policy -- sh -c 'test -e ~/.mine'

# Another project sees neither it nor where it lies. The control: it is there.
[ -e "$home/.npm/x" ] || fail "control: $home"
(cd ../b && expect 1 "$WARDFS" run -- sh -c 'test -e ~/.npm || test -e "$1" || test -e "$2"' sh "$home" "$state") || exit 1
expect 1 "$WARDFS" run -- test -e "$state/homes"

# Files that steer later programs do not last, however they were hidden, and do not reach the host.
expect 0 "$WARDFS" run -- sh -c 'cd && for f in .bashrc .profile .gitconfig .npmrc; do echo evil >$f; done
	mkdir -p .config/git .cargo kept/git && echo "[core]" >.config/git/config && echo evil >.cargo/config.toml
	echo evil >kept/git/config && cat .bashrc .cargo/config.toml'
has "$OUT" evil
expect 0 "$WARDFS" run -- sh -c 'cd && for f in .bashrc .profile .gitconfig .npmrc .config/git .cargo/config.toml; do
	[ ! -e $f ] || echo "$f is kept"; done; cat kept/git/config
	rmdir .config && ln -s kept .config && cat .config/git/config'
[ "$OUT" = "evil
evil" ] || fail "dropped: $OUT"
expect 0 "$WARDFS" run -- sh -c 'cd && [ ! -e .config/git/config ] && mkdir -p .config/git && echo x >.config/git/config &&
	chmod 500 .config/git && chmod 0 .config'
expect 1 "$WARDFS" run -- sh -c 'test -e ~/.config/git/config'
for f in .npmrc .bashrc .profile .gitconfig; do
	[ "$(cat ~/$f)" = "# of the host" ] || fail "$f of the host"
done
# A file with the name of a secret belongs to the session that makes it. No later session has it.
expect 0 "$WARDFS" run -- sh -c 'echo own >~/.netrc; cat ~/.netrc'
[ "$OUT" = own ] || fail "control: its own: $OUT"
expect 1 "$WARDFS" run -- sh -c 'cat ~/.netrc'
hasnt "$OUT" own

# Two at once share it, and neither loses what steers it.
"$WARDFS" run --session "one$$" -- sh -c 'echo own >~/.bashrc; touch up; while [ ! -e go ]; do sleep 0.05; done; cat ~/.bashrc ~/.npm/y' >one.out 2>one.err &
one=$!
wait_until 60 test -e up || fail "not started: $(cat one.err)"
expect 0 "$WARDFS" run -- sh -c 'echo second >~/.npm/y; cat ~/.bashrc'
has "$OUT" own
# While one runs nothing is taken away.
expect 1 "$WARDFS" home clear
has "$ERR" "did not clear the home of $PWD, because a session"
expect 0 "$WARDFS" home list
has "$OUT" "a session runs"
touch go
wait $one || fail "the first: $(cat one.err)"
[ "$(cat one.out)" = "own
second" ] || fail "two at once: $(cat one.out)"

# The content of the home counts, whatever session made it. A closed directory hides nothing from
# the count.
expect 0 "$WARDFS" run --policy ../small.policy -- sh -c 'mkdir ~/c && head -c 40000 /dev/zero >~/c/big && chmod 0 ~/c'
expect 1 "$WARDFS" run --policy ../small.policy -- sh -c 'head -c 40000 /dev/zero >~/more'
has "$ERR" "[quota /agent-home] growth = "
expect 0 "$WARDFS" run -- sh -c 'head -c 40000 /dev/zero >~/more'
expect 0 "$WARDFS" home size --json "$PWD"
printf %s "$OUT" | python3 -c '
import json, sys
h, = json.load(sys.stdin)
assert 80000 < h["bytes"] < 99000 and h["files"] >= 4, h' || fail "size: $OUT"

# It belongs to a directory, not to a path: who makes another one there gets none of it, until the
# owner says so.
expect 0 "$WARDFS" run -- sh -c 'echo secret >~/token'
mv ../a ../a.old && git init -q ../a && cd ../a || exit 1
expect 1 "$WARDFS" run -- sh -c 'cat ~/token; echo x >~/mine; [ -e ~/token ]'
has "$ERR" "is not the directory for which wardfs kept this home"
has "$ERR" "wardfs home keep $PWD"
[ -e "$home/token" ] && [ ! -e "$home/mine" ] || fail "the kept home: $(ls -A "$home")"
expect 0 "$WARDFS" home keep
[ "$OUT" = "kept for: $PWD" ] || fail "keep: $OUT"
expect 0 "$WARDFS" run -- sh -c 'cat ~/token'
[ "$OUT" = secret ] && [ -z "$(printf %s "$ERR" | grep another)" ] || fail "kept: $OUT $ERR"
# A directory that was moved away and back is the same one, and not the one that it is bound to now.
cd .. && mv a a.new && mv a.old a && cd a || exit 1
expect 1 "$WARDFS" run -- sh -c 'test -e ~/token'
expect 0 "$WARDFS" home keep "$PWD"
expect 0 "$WARDFS" run -- sh -c 'rm ~/token'
rm -rf ../a.new

# A tree of the policy's in the same place.
printf '[policy]\nversion = 1\nextends = medium\n[tree /agent-home/sub]\nsource = .\nat = none\n' >../tree.policy
expect 2 "$WARDFS" run --policy ../tree.policy -- true
has "$ERR" "[home] mode = project"

# Clearing: links are removed, not followed; closed and deep directories go as well.
mkdir ../precious
echo precious >../precious/file
expect 0 "$WARDFS" run -- python3 -c '
import os
os.chdir(os.environ["HOME"])
os.symlink(os.path.realpath("/workspace/../precious"), "ws")
for name in ("link", "c2"):
    os.symlink("'"$HOME"'/precious", name)
os.makedirs("mod/cache"); open("mod/cache/x", "w").close()
os.chmod("mod/cache", 0o500); os.chmod("mod", 0o500)
for i in range(200):
    os.mkdir("d"); os.chdir("d")
open("bottom", "w").close()'
[ -L "$home/link" ] || fail "control: no link"
# A link in the place of a directory names no home, neither from here nor with a name behind it.
mkdir ../sub
expect 1 "$WARDFS" home clear ../sub
has "$ERR" "no home is kept"
rmdir ../sub
ln -s b ../sub
chown -h 4711 ../sub
for verb in clear keep size; do
	expect 1 "$WARDFS" home "$verb" ../sub
	has "$ERR" "../sub leads to b."
done
(cd ../b && expect 0 "$WARDFS" home list && has "$OUT" "$HOME/a" && has "$OUT" "$HOME/b") || exit 1
expect 0 "$WARDFS" home clear
[ "$OUT" = "cleared: $PWD" ] || fail "clear: $OUT"
[ ! -e "$home" ] || fail "still there: $(ls -la "$home")"
[ "$(cat ../precious/file)" = precious ] || fail "a link was followed"
expect 1 "$WARDFS" home clear
has "$ERR" "no home is kept"
expect 1 "$WARDFS" run -- sh -c 'test -e ~/.npm'
# All at once: only who is asked and says yes, or says so beforehand.
expect 1 "$WARDFS" home clear --all
has "$ERR" "--all would clear 2 homes of 1 owner in"
has "$ERR" "Give --yes"
answered() { # ANSWER: on a terminal
	python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/home-asked.py")" "$1" "$WARDFS" home clear --all
}
expect 1 answered n
has "$OUT" "Clear all of them? y, n [n]"
has "$OUT" "nothing was cleared"
expect 0 "$WARDFS" home list
has "$OUT" "$HOME/b"
expect 0 "$WARDFS" home clear --all --yes --json
printf %s "$OUT" | python3 -c 'import json, sys; assert len(json.load(sys.stdin)) == 2' || fail "$OUT"
expect 0 "$WARDFS" home list
[ -z "$OUT" ] || fail "left: $OUT"
S
chmod 644 body.sh
mkdir -p "$WARD_TMP/roots"
HOME=$WARD_TMP/roots sh "$WARD_TMP/body.sh" || fail "as $(id -un)"
[ "$(id -u)" -eq 0 ] || exit 0
as_user "$WARD_TMP/body.sh" || fail "as an ordinary user"

# Root for a project of somebody else's: in root's state directory, and its owner's.
cd "$WARD_TMP/home/b" || exit 1
expect 0 "$WARDFS" run -- sh -c 'echo x >~/x; id -u'
[ "$OUT" = 4711 ] || fail "who: $OUT"
home=$(find "$XDG_STATE_HOME/wardfs/homes/4711" -name home)
[ "$(stat -c '%a %u' "$home" "$home/x")" = "700 4711
644 4711" ] || fail "whose: $(stat -c '%a %u %n' "$home" "$home/x")"
# The content counts there too, though the owner may not look into root's directory.
expect 0 "$WARDFS" run --session counted -- true
left=$(grep -a -o 'growth = [0-9]*$' "$XDG_STATE_HOME/wardfs/sessions/counted/policy")
[ "$left" = "growth = $((10 * 1024 * 1024 * 1024 - 2))" ] || fail "left of 10G, 2 bytes used: $left"
expect 0 "$WARDFS" home clear
exit 0
