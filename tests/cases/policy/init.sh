#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs init`: a first policy that loads, that hides nothing, and that fits what is there.
set -eu
. "$WARD_SRC/tests/lib.sh"
git config --global user.name case
git config --global user.email case@localhost

written() {
	grep -qF -- "$1" out || fail "no '$1' in: $(cat out)"
}
init() {
	"$WARDFS" init "$@" >out 2>err || fail "init $*: exit status $?: $(cat err)"
	# another base than the one that was written would tell nothing
	"$WARDFS" policy check >checked 2>&1 || fail "$(cat checked)"
	! grep -q '^hide' out || fail "it hides: $(cat out)"
}
explain() {
	"$WARDFS" policy explain "$@" >explained 2>&1
}

echo "--- nothing known"
mkdir plain && cd plain
mkdir .wardfs.d && git init -q .
init
written 'extends = medium'
written 'of no known kind'
file=$(sed -n 's/^wardfs: written: //p' err)
[ -f "$file" ] && cmp -s out "$file" || fail "not what was printed: $file"
[ "$(stat -c %a "$file")" = 600 ] || fail "others may read it"
[ -z "$(git status --porcelain | grep -v -e out -e err -e checked)" ] || fail "the project changed"

echo "--- no second one, but by --force"
echo '; mine' >>"$file"
code=0
"$WARDFS" init >out 2>err || code=$?
[ $code -eq 2 ] && grep -q -- '--force' err || fail "exit status $code: $(cat err)"
tail -n 1 "$file" | grep -q mine || fail "it was replaced"
[ "$(find "$(dirname "$file")" -type f | wc -l)" -eq 1 ] || fail "something was left behind"
echo 'broken' >>"$file"
"$WARDFS" init --dry-run >out 2>err || fail "$(cat err)"
grep -q broken "$file" || fail "--dry-run wrote"
init --force
! grep -q broken "$file" || fail "--force did not replace it"
cd ..

echo "--- each kind is known, what the host runs is guarded, secrets are denied unless tracked"
mkdir -p all/.github/workflows all/secrets && cd all
git init -q .
touch package.json pyproject.toml Cargo.toml go.mod Makefile .github/workflows/ci.yml AGENTS.md
echo k >secrets/key && echo t >terraform.tfvars
echo secrets >.gitignore
git add -A && git commit -qm first
explain write AGENTS.md || fail "control: medium lets it be written"
explain read secrets/key || fail "control: medium lets it be read"
mkdir -p "$HOME/.cargo/bin"
init
written '(node, python, rust, go, C)'
written 'read = ~/.cargo/bin'
! explain write AGENTS.md || fail "AGENTS.md can be written"
! explain write .github/workflows/ci.yml || fail "the workflows can be written"
! explain read secrets/key || fail "the secret can be read"
explain read terraform.tfvars || fail "what git tracks is denied"
written '; deny = /workspace/terraform.tfvars'
explain write src/a.c || fail "nothing can be written"
cd ..

echo "--- a worktree, with the git directory outside"
git -C all worktree add -q "$PWD/tree"
cd tree
"$WARDFS" run --policy medium -- sh -c 'cd "$1" && git status' sh "$PWD" >out 2>&1 && fail "control: medium knows it"
init
written '[tree '
"$WARDFS" run -- sh -euc '
	cd "$1"
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
	git status --porcelain
	echo x >x
	git add x
	git commit -qm inside
	git update-ref refs/remotes/origin/main HEAD
	if git config core.fsmonitor /workspace/evil 2>/dev/null; then exit 1; fi
	for guarded in hooks/pre-commit remotes/origin objects/info/alternates worktrees/tree/config.worktree; do
		if sh -c "mkdir -p \"\$(dirname \"$2/.git/$guarded\")\" && echo x >\"$2/.git/$guarded\"" 2>/dev/null; then exit 1; fi
	done
	' sh "$PWD" "${PWD%/*}/all" >run 2>&1 || fail "$(cat run)"
git log --oneline | grep -q inside || fail "the commit did not arrive"
[ ! -e ../all/.git/hooks/pre-commit ] || fail "a hook"
cd ..

echo "--- a submodule"
git init -q super && cd super
git -c protocol.file.allow=always submodule --quiet add "$PWD/../all" sub
git commit -qm sub
cd sub
init
written '[tree '
"$WARDFS" run -- sh -euc 'cd "$1" && git status --porcelain' sh "$PWD" >run 2>&1 || fail "$(cat run)"
cd ../..

echo "--- a .git file of the agent's, and a directory of its own that says it is the project's"
git -C all worktree add -q "$PWD/true-tree"
git init -q other && echo key >other/key && git -C other add key && git -C other commit -qm key
other=$PWD/other/.git
mkdir claimed && cd claimed
mkdir -p fake worktrees/fake
printf '%s/.git\n' "$PWD" | tee fake/gitdir >worktrees/fake/gitdir
echo 'ref: refs/heads/x' | tee fake/HEAD >worktrees/fake/HEAD
echo "$other" >fake/commondir
echo ../.. >worktrees/fake/commondir
ln -s "$other/objects" objects
touch HEAD
# The last: a true worktree of a repository, but another one.
for named in fake worktrees/fake "$other" "${other%/other/.git}/all/.git/worktrees/true-tree"; do
	echo "gitdir: $named" >.git
	"$WARDFS" init --dry-run >out 2>err || fail "$named: $(cat err)"
	written 'no git directory of this project'
	! grep -q '^\[tree' out || fail "$named: it would be served"
done
cd ..

echo "--- a .git file that names what is not its own"
mkdir planted && cd planted
echo "gitdir: $HOME" >.git
mkdir -p "$HOME/objects" && touch "$HOME/HEAD"
"$WARDFS" init --dry-run >out 2>err || fail "$(cat err)"
written 'no git directory of this project'
! grep -q '^\[tree' out || fail "it would be served"
