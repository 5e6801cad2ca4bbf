#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What docs/wardfs-policy.5.md says about push -u, submodule add, husky and pre-commit under
# medium.
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
git config --global protocol.file.allow always

mkdir project
cd project
git init -q .
echo x >x
git add x
git commit -qm first
git clone -q --bare . hub.git
git remote add hub /workspace/hub.git
printf 'hub.git\nerr\n' >.git/info/exclude
before=$(cksum .git/config)

inside() {
	"$WARDFS" run --policy medium -- sh -eu -c "
		git config --global user.name agent
		git config --global user.email agent@localhost
		git config --global protocol.file.allow always
		git config --global init.defaultBranch main
		$1" 2>err || fail "$1: exit status $?: $(cat err)"
}

echo "--- each guard is named once, also where the configuration names the file again"
git config include.path "$PWD/.git/hooks/more"
before=$(cksum .git/config)
for path in .git/config .git/hooks/pre-commit; do
	"$WARDFS" policy explain --policy medium write "$path" >out && fail "$path may be written"
	[ "$(grep -c 'guard\] read = /workspace/.git/' out)" -ge 2 ] || fail "$path: $(cat out)" # deciding, and in the list
	grep '^    medium' out | sed 's/^ *[^ ]* *//' | sort >lines
	[ -z "$(uniq -d lines)" ] || fail "$path twice: $(cat out)"
done
rm out lines

echo "--- push"
inside 'echo y >>x; git commit -qam second; git push -q hub main'
[ "$(git -C hub.git rev-parse main)" = "$(git rev-parse main)" ] || fail "control: push without -u"
inside 'echo z >>x; git commit -qam third; git push -q -u hub main || :'
[ "$(git -C hub.git rev-parse main)" = "$(git rev-parse main)" ] || fail "push -u does not push"
[ "$before" = "$(cksum .git/config)" ] || fail "push -u wrote the config"

echo "--- submodule add"
inside 'git submodule --quiet add /workspace/hub.git sub || :'
grep -q 'could not write config file' err || fail "another reason: $(cat err)"
[ "$before" = "$(cksum .git/config)" ] || fail "submodule add wrote the config"
inside 'mkdir fresh; cd fresh; git init -q .; git submodule --quiet add /workspace/hub.git sub; git commit -qm sub'
[ -f fresh/sub/x ] || fail "control: submodule add in a new repository"
grep -q 'new or changed files that this host may execute:.*fresh/.git' err || fail "it is not named: $(cat err)"

echo "--- hooks: husky sets core.hooksPath, pre-commit writes the hook"
inside 'if git config core.hooksPath .husky/_; then exit 1; fi
	if sh -c "echo true >.git/hooks/pre-commit"; then exit 1; fi
	if mkdir .husky; then exit 1; fi
	git init -q f2; cd f2; git config core.hooksPath .husky/_; echo true >.git/hooks/pre-commit'
[ "$before" = "$(cksum .git/config)" ] && [ ! -e .git/hooks/pre-commit ] || fail "a hook"

echo "--- what else writes .git/config: refused, and git says so; the rest of it is done"
inside 'git push -q -u hub main || :'
grep -q 'could not write config file\|could not lock config file\|unable to' err || fail "push -u says nothing: $(cat err)"
inside 'if git config user.x y; then exit 1; fi; if git remote add r2 /workspace/hub.git; then exit 1; fi'
inside 'git branch one; git branch -m one two || :; git fetch -q hub; git checkout -q -b three hub/main || :
	git branch --list three | grep -q three; git checkout -q main'
[ "$before" = "$(cksum .git/config)" ] || fail "the config was written"
inside 'git init -q f3; cd f3; git config user.x y; git remote add r /workspace/hub.git; git fetch -q r
	git checkout -q -b three r/main; git branch -m three four
	test "$(git config branch.four.remote)" = r'

echo "--- a worktree: made, and named at the end"
inside 'git worktree add -q wt -b wtb; cd wt; echo w >w; git add w; git commit -qm w'
git log --oneline wtb | grep -q ' w$' || fail "no commit of the worktree"
grep -q 'new or changed files that this host may execute:.*wt/.git' err || fail "the worktree is not named: $(cat err)"

echo "--- checking out a branch in which a guarded file differs: that file is refused, the others work"
mkdir .vscode
echo '{}' >.vscode/settings.json
git add -A .vscode
git commit -qm editor
git checkout -q -b guarded
echo '{"x": 1}' >.vscode/settings.json
echo changed >x
git commit -qam guarded
git checkout -q main
inside 'git checkout -q guarded || :; test "$(cat x)" = changed; test "$(cat .vscode/settings.json)" = "{}"'
grep -q "unable to unlink old '.vscode/settings.json'" err || fail "another reason: $(cat err)"
git checkout -q -f main
echo "--- a branch that brings a guarded directory: git stops there"
git rm -q -r --cached .vscode
git commit -qm without
rm -r .vscode
inside 'git checkout -q guarded || :; test ! -e .vscode'
grep -q "cannot create directory at '.vscode'" err || fail "another reason: $(cat err)"
git checkout -q -f main

echo "--- a repository that was there is not removed where it is guarded; one made inside is"
git init -q vendor
echo v >vendor/v
inside 'rm -rf vendor 2>/dev/null || :; test -f vendor/.git/config; test ! -e vendor/v
	git init -q gone; rm -rf gone; test ! -e gone'
