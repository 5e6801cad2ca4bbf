#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# git under profile medium, as docs/wardfs-policy.5.md says. Daily work succeeds, and files that
# the host would execute are read-only. Each refusal has its control.
# shellcheck disable=SC2016 # expanded by the shell inside
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity

mkdir project
cd project
git init -q .
mkdir src .vscode
echo 'int main(void) { return 0; }' >src/a.c
echo '{}' >.vscode/settings.json
echo 'SECRET=1' >.env
echo .env >.gitignore
git add -A
git commit -qm first
git branch other

inside() {
	"$WARDFS" run --policy medium -- sh -eu -c "$1"
}

echo "--- a repository that was there"
inside '
	git config --global user.name agent
	git config --global user.email agent@localhost
	git status --porcelain
	echo "/* more */" >>src/a.c
	test "$(git status --porcelain)" = " M src/a.c"
	git diff --stat
	git commit -qam second
	git branch topic
	git checkout -q topic
	git mv src lib
	git commit -qm moved
	git checkout -q main
	git merge -q topic
	git rebase -q other
	echo x >>lib/a.c
	git stash -q
	git stash pop -q
	git checkout -q -- lib
	git worktree add -q wt topic
	test -f wt/lib/a.c
	git -C wt log --oneline
	git gc -q
	git fsck
	git tag v1
' || fail "work in the repository"
git log --oneline | grep -q moved || fail "nothing arrived outside"

echo "--- new ones"
inside '
	git config --global user.name agent
	git config --global user.email agent@localhost
	git init -q fresh
	cd fresh
	echo x >x
	git add x
	git commit -qm x
	git config core.editor true
	echo true >.git/hooks/pre-commit
	cd ..
	git clone -q fresh clone
	cd clone
	test "$(cat x)" = x
	git checkout -q -b side
	echo y >y
	git add y
	git commit -qm y
	git push -q -u origin side
' || fail "work in new repositories"

echo "--- what the host executes later"
before=$(find .git/hooks .git/config .vscode -type f -exec cat {} + | cksum)
inside '
	no_right() {
		if sh -c "$1" 2>err; then
			echo "not refused: $1"
			exit 1
		fi
		grep -qi "denied\|cross-device\|not permitted" err || {
			echo "$1: another reason:"
			cat err
			exit 1
		}
	}
	no_right "echo true >.git/hooks/pre-commit"
	no_right "git config core.fsmonitor /workspace/evil"
	no_right "echo ../evil >.git/commondir"
	no_right "echo x >.vscode/tasks.json"
	no_right "mkdir .husky"
	no_right "rm .git/config"
	no_right "mv .git/config .git/c"
	no_right "mkdir -p evil/hooks && mv -T evil/hooks .git/hooks"
	no_right "ln .git/config link"
	no_right "echo x >.wardfs.policy"
	for c in "cat .env" "mv .env visible" "echo x >.env"; do
		! sh -c "$c" 2>/dev/null || { echo "$c: done"; exit 1; }
	done
	test -s .git/config
	cat .git/config >/dev/null
	echo true >.git/not-a-hook
	mkdir .husk
' || fail "guards"
after=$(find .git/hooks .git/config .vscode -type f -exec cat {} + | cksum)
[ "$before" = "$after" ] || fail "something that the host executes has changed"
