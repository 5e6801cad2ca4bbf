#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files of a project that tools other than git execute. .jj/repo may be a file that names another
# directory. wardfs refuses or names files of Sapling, darcs, Pijul and others. The controls: work
# in an existing Jujutsu repository succeeds, and nested files are named and not refused.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
NOTE='new or changed files that this host may execute:'
# not_made PATH: it cannot be made at the top
not_made() {
	expect 0 "$WARDFS" run --policy medium -- \
		sh -c "mkdir -p \"\$(dirname $1)\"; if echo x >$1; then exit 1; fi"
}
# named PATH: it can be made, and the line at the end names it
named() {
	expect 0 "$WARDFS" run --policy medium -- sh -ec "mkdir -p \"\$(dirname $1)\"; echo x >$1"
	has "$ERR" "$NOTE"
	has "${ERR#*"$NOTE"}" "$1"
	rm -rf "./${1%%/*}"
}
for f in .jj/repo .jj/repo/config.toml .jj/workspace-config.toml .sl/config .git/sl/config \
	_darcs/prefs/defaults .reviewboardrc .perldb perldb.ini nbgrader_config.py .psysh.php \
	jupyter_config.py .lazy.lua \
	.externalToolBuilders/a.launch profile_default/startup/a.py .nexrc .theia/tasks.json .fleet/run.json .amp/settings.json \
	.factory/mcp.json .kilocode/mcp.json; do
	not_made $f
	rm -rf .jj .sl _darcs
done
for f in .pijul/config .pijul/hooks pijul.toml .autoenv.zsh .autoenv_leave.zsh \
	.repo/repo/main.py .latexmkrc latexmkrc hie.yaml .merlin .proverc \
	.vimspector.json .ycm_extra_conf.py jupyter_lab_config.py n/.jj/repo n/.sl/config \
	n/.jj/repo/config.toml n/_darcs/prefs/defaults; do
	named $f
done
# only in that place: other directories are called repo and config, too
expect 0 "$WARDFS" run --policy medium -- sh -ec 'mkdir -p src/repo src/sl; touch src/repo/config.toml src/sl/config'
hasnt "$ERR" "$NOTE"

echo "--- a repository of Jujutsu that is there"
mkdir -p .jj/repo/store .jj/repo/op_store
echo ../../../.git >.jj/repo/store/git_target
expect 0 "$WARDFS" run --policy medium -- sh -ec 'echo x >.jj/repo/op_store/a; echo y >.jj/repo/op_store/a'
hasnt "$ERR" "$NOTE"
not_made .jj/repo/store/git_target
expect 0 "$WARDFS" run --policy medium -- sh -c 'if mv .jj/repo .jj/away; then exit 1; fi'
rm -r .jj/repo
mkdir -p other
echo ../other >.jj/repo
not_made .jj/repo
mkdir -p .pijul
echo x >.pijul/config
not_made .pijul/config
mkdir .pijul/hooks
not_made .pijul/hooks/record
