#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Work trees of one repository share the owner's policy of the main checkout, if git's own
# directories prove the relation. A moved project is offered the policy of its old path, and only
# the owner's command takes it.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
mkdir work
cd work || exit 1
project main
main=$PWD/main
cd main || exit 1
echo of-nothing >secret.key
git commit -q --allow-empty -m start
git worktree add -q ../tree -b side
# Not committed: what git has may be read whatever the policy says of secrets.
cp secret.key ../tree/
expect 0 "$WARDFS" policy add read /workspace/secret.key
file=$(find "${XDG_CONFIG_HOME:-$HOME/.config}/wardfs/projects" -name '*main.policy')
[ -n "$file" ] || fail "no policy was written"

# reads DIR STATUS: whether a session there may read what only the main checkout's policy gives.
reads() {
	(cd "$1" && expect "$2" "$WARDFS" run -- cat secret.key && printf '%s\n' "$ERR" >"$WARD_TMP/said")
}
# Nothing is shared before the owner says so: a session of the main checkout can make what says that
# another directory is a work tree of it.
share='If you made the work tree, share the policy: '
reads "$main" 0
hasnt "$(cat "$WARD_TMP/said")" "$share"
mkdir ../victim
cp secret.key ../victim/
expect 0 "$WARDFS" run -- sh -c 'mkdir -p .git/worktrees/v && echo "$1/.git" >.git/worktrees/v/gitdir && echo ../.. >.git/worktrees/v/commondir' sh "$(dirname "$main")/victim"
echo "gitdir: $main/.git/worktrees/v" >../victim/.git
reads ../victim 1
reads ../tree 1
has "$(cat "$WARD_TMP/said")" "work tree of $main, for which you have a policy"
has "$(cat "$WARD_TMP/said")" "$share"
# One step: what is offered here lets git work as well.
hasnt "$(cat "$WARD_TMP/said")" "git will not work"
sed -n "s/.*$share//p" "$WARD_TMP/said" | sed 's/ wardfs / "$WARDFS" /' >../command

# At a terminal it is asked, and nothing but a yes shares; then it is one step.
asked='Did you make it, and shall that policy hold here, too? [y/N]'
answers() { # answers WORD DIR STATUS: what a session there says, and its command, to $WARD_TMP/said
	(cd "$2" && printf '%s\n' "$1" | { script -qec "$WARDFS run -- cat secret.key" /dev/null >"$WARD_TMP/said" || [ $? -eq "$3" ]; }) ||
		fail "$1: $(cat "$WARD_TMP/said")"
}
link=$(dirname "$file")/$(basename "$file" main.policy)tree.policy
for no in '' n nonsense; do
	answers "$no" ../tree 1
	has "$(cat "$WARD_TMP/said")" "$asked"
	[ ! -L "$link" ] || fail "shared by '$no'"
done
answers y ../tree 0
has "$(cat "$WARD_TMP/said")" of-nothing
has "$(cat "$WARD_TMP/said")" "shares the policy of another one: $file"
answers n ../tree 0
hasnt "$(cat "$WARD_TMP/said")" "$asked"
rm "$link"
# init asks the same there, and prints as little as in any project. Control: a no gives the work
# tree a policy of its own.
(
	cd ../tree || exit 1
	printf 'y\n' | script -qec "$WARDFS init" /dev/null >"$WARD_TMP/said" || fail "init: $?"
	has "$(cat "$WARD_TMP/said")" "$asked"
	has "$(cat "$WARD_TMP/said")" "this work tree shares the policy of $main from now on"
	[ "$(wc -l <"$WARD_TMP/said")" -le 4 ] || fail "$(cat "$WARD_TMP/said")"
	[ "$(readlink "$link")" = "$file" ] || fail "no link"
	# Once more: the policy of the main checkout gets no lines of this work tree.
	cp "$file" ../was
	expect 0 "$WARDFS" init
	has "$ERR" "shares the policy of another one, $file: nothing is written"
	cmp "$file" ../was
	[ -L "$link" ] || fail "no link any more"
	rm "$link"
	expect 2 "$WARDFS" init --share --force
	printf 'n\n' | script -qec "$WARDFS init" /dev/null >"$WARD_TMP/said" || fail "init: $?"
	[ ! -L "$link" ] && [ -f "$link" ] || fail "init wrote no file"
	expect 2 "$WARDFS" init --share
	has "$ERR" "for which you have no policy yet"
	rm "$link"
	# Nobody to ask: nothing is shared, and the line says what shares it.
	expect 0 "$WARDFS" init </dev/null
	has "$ERR" "to share that policy instead: rm '$link' && wardfs init --share"
	[ ! -L "$link" ] || fail "shared without a word"
	[ "$(printf '%s\n' "$OUT" | wc -l)" -le 26 ] || fail "$OUT"
	has "$OUT" "lines serve it, so that git"
	# What is not printed is written.
	grep -qx "read = $main/.git/hooks" "$link" || fail "$(cat "$link")"
	expect 0 "$WARDFS" run -- git log
	rm "$link"
	expect 0 "$WARDFS" init --share
	[ -L "$link" ] || fail "not shared"
	rm "$link" ../was
)
(cd ../victim && rm .git && expect 2 "$WARDFS" init --share && has "$ERR" "nothing to share")
answers y "$main" 0
hasnt "$(cat "$WARD_TMP/said")" "$asked"

# What cannot be one is not offered either: a copy, a git directory in the project, a link, somebody
# else's.
cp -r ../tree ../copy
mkdir -p ../forged/fake/worktrees/x ../linked
cp secret.key ../forged/
cp secret.key ../linked/
ln -s ../tree/.git ../linked/.git
echo "$main/.git" >../forged/fake/worktrees/x/commondir
echo "$(dirname "$main")/forged/.git" >../forged/fake/worktrees/x/gitdir
not_offered() {
	reads "$1" 1
	hasnt "$(cat "$WARD_TMP/said")" "$share"
}
not_offered ../copy
not_offered ../linked
for named in fake/worktrees/x "$main/.git/worktrees/tree" "$main/.git"; do
	echo "gitdir: $named" >../forged/.git
	not_offered ../forged
done

# The owner's command, as it was printed: shared, and said; what is added in one is added for both.
expect 0 sh -e ../command
reads ../tree 0
has "$(cat "$WARD_TMP/said")" "this project shares the policy of another one: $file"
# git works there without more, and what it executes later stays guarded. No start misses what
# another one found.
earlier='was a repository at an earlier start'
for dir in ../tree . ../tree .; do
	(
		cd "$dir" || exit 1
		expect 0 "$WARDFS" run -- git commit -q --allow-empty -m inside
		hasnt "$ERR" "$earlier"
		hasnt "$ERR" "git will not work"
	)
done
[ "$(git -C ../tree log --format=%s | head -n 1)" = inside ] || fail "no commit"
(
	cd ../tree || exit 1
	for what in config hooks/post-commit worktrees/tree/gitdir worktrees/tree/commondir HEAD; do
		expect 2 "$WARDFS" run -- sh -c 'echo x >"$1"' sh "$main/.git/$what"
	done
	expect 1 "$WARDFS" policy explain write "$main/.git/config"
	# Of the main checkout alone: another repository that says to have the same work tree is not
	# served.
	project ../stranger
	git -C ../stranger commit -q --allow-empty -m start
	mkdir -p ../stranger/.git/worktrees/tree
	echo "$PWD/.git" >../stranger/.git/worktrees/tree/gitdir
	echo ../.. >../stranger/.git/worktrees/tree/commondir
	echo "ref: refs/heads/main" >../stranger/.git/worktrees/tree/HEAD
	cp .git ../was
	echo "gitdir: $(dirname "$main")/stranger/.git/worktrees/tree" >.git
	expect 0 git log --format=%s
	expect 128 "$WARDFS" run -- git log
	cp ../was .git
)
(
	cd ../tree || exit 1
	expect 0 "$WARDFS" audit show --json --kind session.start
	has "$OUT" 'work-main.policy"'
	expect 0 "$WARDFS" policy add append /workspace/both
	has "$ERR" "the policy of another one: $file"
	# What a session here has of git by sharing stays, before and after.
	hasnt "$OUT" "[tree"
	hasnt "$OUT" "$main/.git"
	expect 1 "$WARDFS" run --policy medium -- cat secret.key
	hasnt "$ERR" "another one"
)
grep -q 'append = /workspace/both' "$file" || fail "added elsewhere"
reads ../tree 0

# Moved: offered, with what brings policy and home along; until then nothing of it holds.
cd ..
(cd main && expect 0 "$WARDFS" run -- sh -c 'echo kept >"$HOME/kept"')
offer='If you moved that project here, take its policy over: '
mkdir elsewhere
mv main elsewhere/main
cd elsewhere/main || exit 1
expect 0 "$WARDFS" run --dry-run -- true
has "$ERR" "but you have one for $main, which no longer exists"
has "$ERR" "$offer"
printf '%s\n' "$ERR" | sed -n "s/.*$offer//p" >../command
grep -q '^mv .* && mv .*/homes/.* && rm ' ../command || fail "the home is not offered: $(cat ../command)"
"$WARDFS" policy explain read secret.key >../explained || :
grep -q "secret.key: hide" ../explained || fail "taken without the owner: $(cat ../explained)"
# Only of that name, and only while nothing is there.
mkdir -p ../other
(cd ../other && expect 0 "$WARDFS" run --dry-run -- true && hasnt "$ERR" "$offer")
mkdir "$main"
expect 0 "$WARDFS" run --dry-run -- true
hasnt "$ERR" "$offer"
rmdir "$main"
# The owner's command, as it was printed.
expect 0 sh -e ../command
reads . 0
hasnt "$(cat "$WARD_TMP/said")" "$offer"
expect 0 "$WARDFS" run -- sh -c 'cat "$HOME/kept"'
[ "$OUT" = kept ] || fail "the home did not come along: $OUT"
expect 0 "$WARDFS" home list
has "$OUT" "$PWD"

# Renamed: no name says it, but the kept home knows its directory. The control: another directory in
# the same place, and one that has a name like that only.
expect 0 "$WARDFS" run -- true
renamed=$(dirname "$PWD")/renamed
was=$PWD
cd ..
mkdir stranger
(cd stranger && expect 0 "$WARDFS" run --dry-run -- true && hasnt "$ERR" "$offer")
mv main renamed
(cd stranger && expect 0 "$WARDFS" run --dry-run -- true && hasnt "$ERR" "$offer")
cd renamed || exit 1
expect 0 "$WARDFS" run --dry-run -- true
has "$ERR" "you have one for $was, which no longer exists"
cp -r ../renamed ../copied
(cd ../copied && expect 0 "$WARDFS" run --dry-run -- true && hasnt "$ERR" "$offer")
cd "$renamed" || exit 1

# Without any policy to share, the command that helps is printed, and helps.
mkdir "$WARD_TMP/alone"
cd "$WARD_TMP/alone" || exit 1
project first
git -C first commit -q --allow-empty -m start
git -C first worktree add -q ../second -b second
cd second || exit 1
expect 128 "$WARDFS" run -- git status
has "$ERR" "To serve it: cd $PWD && wardfs init"
expect 0 "$WARDFS" init
expect 0 "$WARDFS" run -- git status
hasnt "$ERR" "git will not work"
expect 0 "$WARDFS" policy check
[ -z "$OUT" ] || fail "check finds fault with what init wrote: $OUT"
cd "$renamed" || exit 1

[ "$(id -u)" -eq 0 ] || skip "the rest needs root"
# As root for the owner: the command acts with the owner's rights. Their directory of policies could
# be a link.
unset XDG_CONFIG_HOME
chmod 755 "$WARD_TMP"
mkdir "$WARD_TMP/theirs"
git init -q "$WARD_TMP/theirs/moved"
chown -R 4711:4711 "$WARD_TMP/theirs"
printf 'them:x:4711:4711::%s:/bin/sh\n' "$WARD_TMP/theirs" | cat - /etc/passwd >"$WARD_TMP/passwd"
theirs() { unshare --mount sh -c 'mount --bind "$0" /etc/passwd; exec "$@"' "$WARD_TMP/passwd" "$@"; }
cd "$WARD_TMP/theirs/moved" || exit 1
expect 0 theirs "$WARDFS" policy add read /workspace/x
mkdir ../new
mv ../moved ../new/
cd ../new/moved || exit 1
expect 0 theirs "$WARDFS" run --dry-run -- true
has "$ERR" "${offer}sudo -u '#4711' mv '"
