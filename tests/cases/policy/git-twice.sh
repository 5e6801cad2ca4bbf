#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One session tries to weaken the guards of the next: modes, names that make a directory look like
# a repository or unlike one. Each attempt first succeeds under a policy without guards, then
# fails under medium: no file changes that git on the host runs or trusts.
# timeout: 600
# shellcheck disable=SC2016 # expanded by the shell inside
set -eu
. "$WARD_SRC/tests/lib.sh"
cat >twice.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >open.policy
top=$PWD

# A project with repositories of all kinds: its own, with programs in the tree, one in v/app, a bare
# one in v/lib.git, a submodule vendor/lib, a linked worktree wt.
set_up() {
	cd "$top"
	chmod -R u+rwX p src 2>/dev/null || :
	rm -rf p src
	git init -q src
	git -C src commit -q --allow-empty -m x
	git init -q p
	cd p
	mkdir .githooks scripts v gh
	for program in .githooks/pre-commit scripts/clean.sh tool.sh tunnel.sh agent.sh; do
		echo true >$program
	done
	git config core.hooksPath .githooks
	git config filter.f.clean 'sh scripts/clean.sh'
	git config alias.t '!./tool.sh'
	git config imap.tunnel ./tunnel.sh
	git config lfs.customtransfer.x.path ./agent.sh
	git add -A
	git commit -qm x
	git -c protocol.file.allow=always submodule --quiet add "$top/src" vendor/lib
	git commit -qm lib
	git worktree add -q wt
	git clone -q "$top/src" v/app
	git clone -q --bare "$top/src" v/lib.git
	mkdir -p odd/.git
	git init -q odd/.git
}
# attempt NAME FIRST TARGET...: FIRST in one session; in the next one, everything may be entered
# again and each target is written.
attempt() {
	name=$1 first=$2
	shift 2
	for policy in "$top/open.policy" medium; do
		set_up
		"$WARDFS" run --policy "$policy" -- sh -c "$first" >"$top/first" 2>&1 || :
		"$WARDFS" run --policy "$policy" -- sh -c 'chmod -R u+rwX . 2>/dev/null
			for f; do mkdir -p "$(dirname "$f")"; echo evil >>"$f"; done; :' sh "$@" >"$top/second" 2>&1 || :
		chmod -R u+rwX .
		for target; do
			if [ "$policy" = medium ]; then
				! grep -qs evil "$target" || fail "$name: $target was written: $(cat "$top/first" "$top/second")"
			else
				grep -qs evil "$target" || fail "$name: control: $target: $(cat "$top/first" "$top/second")"
			fi
		done
	done
}
# These files are guarded without any preparation.
attempt nothing : .githooks/pre-commit scripts/clean.sh tool.sh tunnel.sh agent.sh v/app/.git/config v/lib.git/config \
	v/lib.git/hooks/update .git/modules/vendor/lib/config wt/.githooks/pre-commit wt/scripts/clean.sh wt/tool.sh \
	.git/.githooks/post-receive odd/.git/.git/config
attempt 'a directory that cannot be entered' 'chmod 000 v' v/lib.git/config v/lib.git/hooks/update v/app/.git/config
attempt 'one that cannot be listed' 'chmod 311 v' v/lib.git/config v/lib.git/hooks/update v/app/.git/config
attempt 'a git directory that cannot be listed' 'chmod 311 .git' .githooks/pre-commit scripts/clean.sh tool.sh .git/config
attempt 'a git directory that cannot be entered' 'chmod 000 .git' .githooks/pre-commit tool.sh .git/config
attempt 'a directory of programs' 'chmod 000 scripts' scripts/clean.sh
attempt 'what looks like a repository' 'mkdir v/objects v/refs; touch v/HEAD' v/app/.git/config v/app/.git/hooks/pre-commit \
	v/lib.git/config
attempt 'what looks like that of a submodule' 'touch .git/modules/vendor/HEAD' .git/modules/vendor/lib/config \
	.git/modules/vendor/lib/hooks/pre-commit
S
mkdir -p home
cp twice.sh home
as_user "$WARD_TMP/home/twice.sh"
