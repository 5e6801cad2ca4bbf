#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What docs/policy.md says about push -u, submodule add, husky and pre-commit under medium.
set -eu
wardfs=$WARD_BUILD/wardfs

fail() {
	echo "$*"
	exit 1
}
git config --global user.name case
git config --global user.email case@localhost
git config --global init.defaultBranch main
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
	"$wardfs" run --policy medium -- sh -eu -c "
		git config --global user.name agent
		git config --global user.email agent@localhost
		git config --global protocol.file.allow always
		git config --global init.defaultBranch main
		$1" 2>err || fail "$1: exit status $?: $(cat err)"
}

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
grep -q 'new files that this host may execute:.*fresh/.git' err || fail "it is not named: $(cat err)"

echo "--- hooks: husky sets core.hooksPath, pre-commit writes the hook"
inside 'if git config core.hooksPath .husky/_; then exit 1; fi
	if sh -c "echo true >.git/hooks/pre-commit"; then exit 1; fi
	if mkdir .husky; then exit 1; fi
	git init -q f2; cd f2; git config core.hooksPath .husky/_; echo true >.git/hooks/pre-commit'
[ "$before" = "$(cksum .git/config)" ] && [ ! -e .git/hooks/pre-commit ] || fail "a hook"
