#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs reads what git tracks from the index: the same names as git itself, in every index
# format. No host program runs in the agent's repository, and nothing there makes wardfs wait.
# shellcheck disable=SC2016 # expanded by the shell that git starts
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
names=$WARD_BUILD/tests/support/gitnames

# same DIR: git and we name the same files.
same() {
	git -C "$1" ls-files -z | sort -zu >"$WARD_TMP/git"
	"$names" "$(realpath "$1")" | sort -z >"$WARD_TMP/ours" || fail "$1: not read"
	[ -s "$WARD_TMP/git" ] || fail "control: git names nothing in $1"
	cmp "$WARD_TMP/git" "$WARD_TMP/ours" || fail "$1: other names than git's"
}

echo "--- every form of index"
project r
cd r
mkdir -p a/b deep/er
long=$(printf 'n%.0s' $(seq 200))
mkdir -p "$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long"
echo x >"$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/$long/end"
for i in $(seq 300); do echo "$i" >"a/b/$i"; done
printf x >"$(printf 'new\nline')"
echo x >a.txt
echo x >deep/er/file
git add .
git commit -qm one
same .
same deep
for version in 2 3 4; do
	git update-index --index-version $version
	echo later >"intent$version"
	git add -N "intent$version"
	same .
	same deep/er
done
git rm -q --cached intent2 intent3 intent4
git update-index --split-index
same .
git rm -q --cached a/b/7 a/b/8 a/b/300
echo changed >a/b/9
echo new >parted
git add a/b/9 parted
[ -n "$(find .git -name 'sharedindex.*')" ] || fail "control: the index is not split"
same .
git update-index --no-split-index
git commit -qm two
echo "--- a conflict has three entries of one name"
git checkout -qb other
echo other >a.txt
git commit -qam other
git checkout -q -
echo ours >a.txt
git commit -qam ours
git merge -q other >/dev/null 2>&1 && fail "control: no conflict"
[ "$(git ls-files -u | wc -l)" -eq 3 ] || fail "control: $(git ls-files -u)"
same .
git merge --abort
git clean -fdq
echo "--- a sparse index: what is not checked out is not named"
git sparse-checkout init --cone --sparse-index
git sparse-checkout set deep
git ls-files --sparse | grep -qx 'a/' || fail "control: the index is not sparse"
git ls-files -z --sparse | grep -zv '/$' | sort -z >"$WARD_TMP/git"
"$names" "$PWD" | sort -z >"$WARD_TMP/ours"
cmp "$WARD_TMP/git" "$WARD_TMP/ours" || fail "a sparse index"
git sparse-checkout disable
same .
echo "--- a worktree, a submodule, a git directory elsewhere, SHA-256"
git worktree add -q ../tree other
same ../tree
git init -q ../sub
echo x >../sub/inner
git -C ../sub add inner
git -C ../sub commit -qm x
git -c protocol.file.allow=always submodule --quiet add ../sub module
same module
same .
cd ..
git init -q --separate-git-dir elsewhere.git apart
echo x >apart/x
git -C apart add x
same apart
git init -q --object-format=sha256 wide
mkdir wide/d
echo x >wide/d/x
git -C wide add d
same wide
same wide/d
git -C wide worktree list >/dev/null
mkdir none
[ -z "$("$names" "$PWD/none")" ] || fail "names outside of any repository"

echo "--- a program that the repository names, reached by a missing tree of a sparse index"
mark=$WARD_TMP/mark
export mark
project evil
cd evil
mkdir in out
echo x >in/x
echo x >out/y
git add .
git commit -qm x
git sparse-checkout init --cone --sparse-index
git sparse-checkout set in
tree=$(git rev-parse HEAD:out)
rm -f ".git/objects/$(printf %s "$tree" | cut -c1-2)/$(printf %s "$tree" | cut -c3-)"
git config extensions.partialClone origin
git config core.repositoryFormatVersion 1
git config remote.origin.url "$PWD"
git config remote.origin.promisor true
git config remote.origin.uploadpack 'touch "$mark"; false'
for verb in "policy check" "init --dry-run" "policy show"; do
	# shellcheck disable=SC2086 # two words
	"$WARDFS" $verb >"$WARD_TMP/.out" 2>&1 || fail "$verb: $(cat "$WARD_TMP/.out")"
	[ ! -e "$mark" ] || fail "$verb ran the agent's program"
done
git ls-files >/dev/null 2>&1 || :
[ -e "$mark" ] || fail "control: git itself does not run the program"
cd ..

echo "--- pipes and nonsense in the place of git's files: said, and nothing waits"
project odd
cd odd
echo x >x
git add x
cp .git/index "$WARD_TMP/index"
for file in config index; do
	mv ".git/$file" "$WARD_TMP/kept"
	mkfifo ".git/$file"
	timeout 60 "$WARDFS" policy check >"$WARD_TMP/.out" 2>&1 || fail "a pipe as $file: $(cat "$WARD_TMP/.out")"
	timeout 60 "$WARDFS" init --dry-run >"$WARD_TMP/.init" 2>&1 || fail "init: $(cat "$WARD_TMP/.init")"
	grep -q "reading the git index of $PWD: Invalid argument" "$WARD_TMP/.out" || fail "$(cat "$WARD_TMP/.out")"
	grep -q "does not take into account what git tracks" "$WARD_TMP/.init" || fail "$(cat "$WARD_TMP/.init")"
	rm ".git/$file"
	mv "$WARD_TMP/kept" ".git/$file"
done
"$WARDFS" policy check >"$WARD_TMP/.out" 2>&1 || fail "control: $(cat "$WARD_TMP/.out")"
! grep -q "git index" "$WARD_TMP/.out" || fail "control: $(cat "$WARD_TMP/.out")"
head -c 40 "$WARD_TMP/index" >.git/index
timeout 60 "$WARDFS" policy check >"$WARD_TMP/.out" 2>&1 || fail "a short index"
grep -q "reading the git index" "$WARD_TMP/.out" || fail "a short index passes: $(cat "$WARD_TMP/.out")"
