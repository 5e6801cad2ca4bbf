#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After a session under medium, the host's next git command must not run the agent's program. Each
# attempt first succeeds under a policy without guards, then fails under medium.
# timeout: 600
# shellcheck disable=SC2016 # expanded by the shell inside
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
mark=$WARD_TMP/mark
export mark
cat >"$WARD_TMP/open.policy" <<X
[policy]
version = 1
[tree /workspace]
source = .
[files]
write = /workspace
X
# attempt NAME SETUP INSIDE HOST: in a fresh project, SETUP and HOST on the host, INSIDE in a
# session.
attempt() {
	for policy in "$WARD_TMP/open.policy" medium; do
		rm -rf "$WARD_TMP/p" "$mark"
		project "$WARD_TMP/p"
		cd "$WARD_TMP/p" || exit 1
		echo hello >a.txt
		git add a.txt
		git commit -qm x
		sh -euc "$2" || fail "$1: setup"
		# Whatever their exit status: the mark tells what came of them.
		"$WARDFS" run --policy "$policy" -- sh -c "mark=$mark; $3" >"$WARD_TMP/.out" 2>&1 || :
		sh -c "$4" >"$WARD_TMP/.host" 2>&1 </dev/null || :
		if [ "$policy" = medium ]; then
			[ ! -e "$mark" ] || fail "$1: the host ran the agent's program: $(cat "$WARD_TMP/.out")"
			grep -qi "denied\|cross-device\|read-only" "$WARD_TMP/.out" ||
				fail "$1: nothing was refused: $(cat "$WARD_TMP/.out")"
		else
			[ -e "$mark" ] || fail "$1: control: the attempt itself does not work: $(
				cat "$WARD_TMP/.out" "$WARD_TMP/.host"
			)"
		fi
	done
}

fsmonitor='printf "[core]\n repositoryformatversion = 0\n bare = false\n worktree = .\n fsmonitor = touch $mark;:\n"'

attempt "the config itself" : 'git config core.fsmonitor "touch $mark;:"' "git status"
attempt "HEAD taken away, the top made a bare repository" : \
	"mv .git/HEAD HEAD; mkdir objects refs; $fsmonitor >config" "git status"
attempt "a nested repository" "git init -q vendor/lib" \
	'git -C vendor/lib config core.fsmonitor "touch $mark;:"' "git -C vendor/lib status"
attempt "a submodule's .git file" \
	"git init -q ../lib; git -C ../lib commit -q --allow-empty -m x
	 git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm sub; rm -rf ../lib" \
	'git init -q e; git -C e config core.fsmonitor "touch $mark;:"; rm lib/.git; echo "gitdir: ../e/.git" >lib/.git' \
	"git -C lib status"
attempt "a nested bare repository" "git init -q --bare srv/x.git" \
	'git -C srv/x.git config core.fsmonitor "touch $mark;:"; git -C srv/x.git config core.bare false
	 git -C srv/x.git config core.worktree .' "git -C srv/x.git status"
attempt "a repository deeper than the walk goes" \
	"mkdir -p $(printf 'd/%.0s' $(seq 70)); git init -q $(printf 'd/%.0s' $(seq 70))r" \
	"git -C $(printf 'd/%.0s' $(seq 70))r "'config core.fsmonitor "touch $mark;:"' \
	"git -C $(printf 'd/%.0s' $(seq 70))r status"
hook='printf "#!/bin/sh\ntouch $mark\n"'
attempt "core.hooksPath" \
	'mkdir .githooks; echo : >.githooks/pre-commit; chmod 755 .githooks/pre-commit; git config core.hooksPath .githooks' \
	"$hook >.githooks/pre-commit" "git commit --allow-empty -m y"
attempt "core.hooksPath, not there yet" "mkdir tools; git config core.hooksPath tools/hooks" \
	"rmdir tools; mkdir -p tools/hooks; $hook >tools/hooks/pre-commit; chmod 755 tools/hooks/pre-commit" \
	"git commit --allow-empty -m y"
attempt "core.hooksPath, absolute" 'mkdir .githooks; git config core.hooksPath "$PWD/.githooks"' \
	"$hook >.githooks/pre-commit; chmod 755 .githooks/pre-commit" "git commit --allow-empty -m y"
attempt "core.hooksPath behind a link" \
	"mkdir -p scripts/hooks e/hooks; echo : >scripts/hooks/pre-commit; ln -s scripts tools; git config core.hooksPath tools/hooks" \
	"$hook >e/hooks/pre-commit; chmod 755 e/hooks/pre-commit; ln -sfn e tools" \
	"git commit --allow-empty -m y"
attempt "hooks as a link into the tree" "rm -rf .git/hooks; mkdir myhooks; ln -s ../myhooks .git/hooks" \
	"$hook >myhooks/pre-commit; chmod 755 myhooks/pre-commit" "git commit --allow-empty -m y"
attempt "include.path" 'echo >.gitconfig; git config include.path ../.gitconfig' \
	'printf "[core]\n fsmonitor = touch $mark;:\n" >.gitconfig' "git status"
attempt "include.path of an included file" \
	'printf "[include]\n\tpath = conf/b ; second\n" >.gitconfig; mkdir conf; echo >conf/b; git config include.path ../.gitconfig' \
	'printf "[core]\n fsmonitor = touch $mark;:\n" >conf/b' "git status"
attempt "includeIf" 'echo >.gitconfig; git config "includeIf.onbranch:**.path" ../.gitconfig' \
	'printf "[core]\n fsmonitor = touch $mark;:\n" >.gitconfig' "git status"
attempt "a filter's program" \
	'mkdir tools; echo cat >tools/f.sh; git config filter.f.clean "sh tools/f.sh %f"; echo "*.txt filter=f" >.gitattributes
	 git add .; git commit -qm f' \
	'printf "touch $mark\ncat\n" >tools/f.sh; echo x >>a.txt' "git add a.txt"
attempt "an alias" "echo : >x.sh; chmod 755 x.sh; git config alias.x '!./x.sh'" \
	"$hook >x.sh" "git x"
# Later words of a command: what an interpreter runs is guarded although it is missing.
touch='echo "touch $mark"'
attempt "a script of sh" "git config core.sshCommand 'sh ssh.sh'" "$touch >ssh.sh" "git ls-remote ssh://h.example/x"
attempt "a script behind options and variables" \
	"git config core.sshCommand 'exec env A=b timeout 9 bash -eu -o pipefail tools/ssh.sh'" \
	"mkdir tools; $touch >tools/ssh.sh" "git ls-remote ssh://h.example/x"
attempt "a script of Python" "git config alias.x '!python3 -u -W ignore gen.py'" \
	'echo "open(\"$mark\", \"w\")" >gen.py' "git x"
attempt "a module of Python" "git config alias.x '!python3 -m helper.x'" \
	'mkdir helper; echo "open(\"$mark\", \"w\")" >helper/x.py' "git x"
attempt "what sh -c begins with" "git config alias.x '!sh -c \"true; ./gen\"'" "$touch >gen; chmod 755 gen" "git x"
attempt "a file that is sourced" "git config alias.x '!. ./env.sh; true'" "$touch >env.sh" "git x"
attempt "a path behind a substitution" "git config alias.x '!\$(git rev-parse --show-toplevel)/tools/x'" \
	"mkdir tools; $touch >tools/x; chmod 755 tools/x" "git x"
attempt "url.EXT.insteadOf" \
	"git config protocol.ext.allow always; git config 'url.ext::sh ext.sh .insteadOf' gh:" \
	"$touch >ext.sh" "git ls-remote gh:y"
attempt "the remote of a branch" \
	"git config protocol.ext.allow always; git config branch.main.remote 'ext::sh ext.sh'" "$touch >ext.sh" "git fetch"
attempt "a remote helper's URL in .git/remotes" \
	"git config protocol.ext.allow always; mkdir .git/remotes; echo 'URL: ext::sh ext.sh' >.git/remotes/o" \
	"$touch >ext.sh" "git ls-remote o"
# npm runs script-shell for each script, here in the words of npm-config(7); npm itself is not
# needed.
attempt "npm's script-shell" "mkdir tools; printf 'fund = false\nscript-shell = ./tools/shell\n' >.npmrc" \
	"$touch >tools/shell; chmod 755 tools/shell" '$(sed -n "s/script-shell = //p" .npmrc) -c "npm test"'
attempt "npm's node-options" "printf 'node-options=--require ./hook.js\n' >.npmrc" \
	"$touch >hook.js" 'sh "$(sed -n "s/.*--require //p" .npmrc)"'
attempt "hooksPath of a nested repository" \
	"git init -q v; mkdir v/h; echo : >v/h/pre-commit; chmod 755 v/h/pre-commit; git -C v config core.hooksPath h" \
	"$hook >v/h/pre-commit" "git -C v commit --allow-empty -m y"
attempt "a repository whose git directory is elsewhere in the tree" \
	"mv .git real; echo 'gitdir: real' >.git" "$fsmonitor >real/config" "git status"
# Remotes as they were before the configuration: "git push" sends to them, and the hooks there run.
evil_remote='git init -q --bare e.git; printf "#!/bin/sh\ntouch $mark\n" >e.git/hooks/post-receive; chmod 755 e.git/hooks/post-receive'
attempt "a remote in .git/remotes" : \
	"$evil_remote; mkdir -p .git/remotes; "'printf "URL: $PWD/e.git\nPush: HEAD:refs/heads/x\n" >.git/remotes/origin' \
	"git push origin"
attempt "a remote in .git/branches" : \
	"$evil_remote; mkdir -p .git/branches; "'echo "$PWD/e.git#main" >.git/branches/origin' "git push origin main"
