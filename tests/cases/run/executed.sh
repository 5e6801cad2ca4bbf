#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The exit line and the trail name what a session leaves that this host may execute later. Each
# known way to make the host run the agent's command is refused or named.
set -eu
. "$WARD_SRC/tests/lib.sh"
git config --global user.name case
git config --global user.email case@localhost
git config --global init.defaultBranch main
NOTE='new or changed files that this host may execute:'

# inside SCRIPT: as an agent under medium; what is said at the end stands in $ERR
inside() {
	expect 0 "$WARDFS" run --policy medium -- sh -euc "$1"
}
# named SCRIPT PATH: the script works, and the summary names the path
named() {
	inside "$1"
	has "$ERR" "$NOTE"
	case ${ERR#*"$NOTE"} in
	*" $2,"* | *" $2;"*) ;;
	*) fail "$1: '$2' is not named: $ERR" ;;
	esac
}
silent() {
	inside "$1"
	hasnt "$ERR" "$NOTE"
}
# closed COMMAND: it fails inside
closed() {
	expect 0 "$WARDFS" run --policy medium -- sh -c "if $1; then exit 1; fi"
}

mkdir project
cd project || exit 1
git init -q .
mkdir -p src old/.vscode
echo '{}' >old/.vscode/settings.json
echo '* text' >.gitattributes
echo x >src/a
mkdir -p fixtures/x fixtures/y editor linked2 away node_modules/.bin node_modules/t
echo true >fixtures/x/.envrc
echo true >fixtures/y/.envrc
echo '{}' >editor/tasks.json
ln -s ../editor linked2/.vscode
echo true >node_modules/t/t.js
ln -s ../t/t.js node_modules/.bin/t
git add -A
git commit -qm first
git clone -q . nested
sleep 0.05

echo "--- work that leaves nothing of the kind is not named"
silent 'true'
silent 'echo y >>src/a; mkdir d; mv src/a d/b; cat .gitattributes; cat old/.vscode/settings.json'
silent 'git -c user.name=a -c user.email=a@b commit -qam inside; git status --porcelain; git gc -q'
silent 'cd nested; echo z >z; git add z; git -c user.name=a -c user.email=a@b commit -qm z'
silent 'git -C nested log --oneline >/dev/null'

echo "--- each way"
closed 'echo ../evil >.git/commondir'
closed 'git config core.fsmonitor /workspace/evil'
closed 'git config core.hooksPath /workspace/evil'
closed 'sh -c "echo x=y >.git/info/attributes"'
closed 'sh -c "mkdir -p .vscode"'
closed 'sh -c "echo x >.envrc"'
closed 'git -C nested config core.fsmonitor /workspace/evil'
closed 'git -C nested config core.hooksPath /workspace/evil'
closed 'sh -c "echo true >nested/.git/hooks/post-checkout"'
named 'git init -q w1; cp -r w1/.git n1; echo ../evil >n1/commondir' n1
named 'git init -q w2; git -C w2 config core.fsmonitor /workspace/evil' w2/.git
named 'git init -q w3; git -C w3 config core.hooksPath /workspace/evil' w3/.git
named 'git clone -q nested w4; echo true >w4/.git/hooks/post-checkout' w4/.git
named 'echo "* filter=evil" >.gitattributes' .gitattributes
named 'echo "* filter=evil" >src/.gitattributes' src/.gitattributes
named 'git init -q w5; mkdir -p w5/.git/info; echo "* filter=evil" >w5/.git/info/attributes' w5/.git
named 'mkdir nested/.git/rebase-merge; echo "exec evil" >nested/.git/rebase-merge/git-rebase-todo' nested/.git
named 'git init -q sub/fresh' sub/fresh/.git
named 'git init -q --bare bare' bare
named 'mkdir worktree; echo "gitdir: ../bare" >worktree/.git' worktree/.git
named 'mkdir linked; ln -s ../bare linked/.git' linked/.git
named 'mkdir deep; mkdir deep/.vscode; echo {} >deep/.vscode/tasks.json' deep/.vscode
named 'echo {} >old/.vscode/tasks.json' old/.vscode
named 'mkdir env; echo true >env/.envrc' env/.envrc
named 'mkdir -p .github/workflows; echo x >.github/workflows/ci.yml' .github/workflows
named 'mkdir -p node_modules/.bin; echo x >node_modules/.bin/tsc' node_modules/.bin
named 'mkdir -p .venv/bin; echo x >.venv/bin/python' .venv/bin
named 'echo x >AGENTS.md' AGENTS.md
named 'echo x >AGENTS.override.md' AGENTS.override.md
named 'echo x >lefthook-local.toml' lefthook-local.toml
named 'mkdir -p .config; echo x >.config/lefthook.jsonc' .config/lefthook.jsonc
named 'echo x >src/rust-toolchain' src/rust-toolchain
named 'echo x >.bazelversion' .bazelversion
named 'echo "nodejs path:./evil" >src/.tool-versions' src/.tool-versions
named 'echo x >ansible.cfg' ansible.cfg
silent 'echo x >lefthook; echo x >my-lefthook.yml'
named 'echo x >src/CLAUDE.local.md' src/CLAUDE.local.md
named 'echo x >.Renviron' .Renviron
named 'mkdir -p .direnv/bin; echo x >.direnv/bin/ls' .direnv
named 'echo x >src/.pylintrc' src/.pylintrc
closed 'sh -c "mkdir -p .hg && echo x >.hg/hgrc-not-shared"'
closed 'sh -c "mkdir -p .hg && echo x >.hg/sharedpath"'
for f in hgrc hgrc-not-shared sharedpath requires; do
	named "mkdir -p hg$f/.hg; echo x >hg$f/.hg/$f" "hg$f/.hg/$f"
done
named 'mkdir -p .hg; echo shared >.hg/requires' .hg/requires

echo "--- by way of a link above what the list names"
mkdir -p host/gh/workflows host/cfg host/more
echo on >host/gh/workflows/ci.yml
ln -s gh host/.github
ln -s cfg host/.config
sleep 0.05
silent 'echo x >host/gh/x; echo x >host/cfg/x; ln -s more host/.jj; cat host/.github/workflows/ci.yml'
named 'mkdir -p by1/gh/workflows; ln -s gh by1/.github; echo x >by1/gh/workflows/ci.yml' by1/.github/workflows
named 'mkdir -p by2/v/bin; echo x >by2/v/bin/python; ln -s v by2/.venv' by2/.venv/bin
named 'echo evil >host/gh/workflows/ci.yml' host/.github/workflows
named 'echo x >host/cfg/lefthook.yml' host/.config/lefthook.yml
named 'mkdir by3; ln -s ../host/gh by3/.github' by3/.github/workflows
named 'mkdir by4 by4/r by4/j; ln -s ../r by4/j/repo; ln -s j by4/.jj; echo x >by4/r/config.toml' by4/.jj/repo

echo "--- what packages bring along for their own CI is counted; at the top, and all else of them, is named"
silent 'mkdir -p node_modules/a/.github/workflows; echo x >node_modules/a/.github/workflows/ci.yml; echo x >node_modules/a/.travis.yml'
named 'mkdir -p vendor/b/.circleci; echo x >vendor/b/.circleci/config.yml; echo x >vendor/b/AGENTS.md' vendor/b/AGENTS.md
has "$ERR" "(and 1 CI file in installed packages, which no CI runs)"
named 'mkdir -p lib/.circleci; echo x >lib/.circleci/config.yml' lib/.circleci

echo "--- an old time, another name and a move do not help"
named 'mkdir o; echo x >o/.envrc; touch -d @1 o/.envrc' o/.envrc
named 'mkdir p; echo x >p/x; touch -d @1 p/x; mv p/x p/.envrc' p/.envrc
named 'mkdir q; mkdir q/vs; echo x >q/vs/tasks.json; mv q/vs q/.vscode' q/.vscode

echo "--- what was there and is changed in place, moved along, or stands behind a link"
silent 'cat fixtures/x/.envrc editor/tasks.json node_modules/t/t.js; mv away away2; echo x >away2/x'
named 'echo evil >fixtures/x/.envrc' fixtures/x/.envrc
named 'touch -r fixtures/y/.envrc t; printf evil >fixtures/y/.envrc; touch -r t fixtures/y/.envrc' fixtures/y/.envrc
named 'cp fixtures/y/.envrc t; echo evil >fixtures/y/.envrc; cat t >fixtures/y/.envrc' fixtures/y/.envrc
named 'python3 -c "
import mmap
with open(\"fixtures/y/.envrc\", \"r+b\") as f:
    mmap.mmap(f.fileno(), 4)[0:4] = b\"EVIL\""' fixtures/y/.envrc
named 'mv fixtures/x src/x' src/x/.envrc
named 'mv fixtures moved' moved/y/.envrc
named 'echo 1 >editor/tasks.json' linked2/.vscode
named 'echo evil >node_modules/t/t.js' node_modules/.bin
named 'rm node_modules/.bin/t; ln -s ../../src/a node_modules/.bin/t' node_modules/.bin

echo "--- among git's objects, and what only looks like them"
named 'mkdir -p store/objects/x; echo x >store/HEAD; echo x >store/objects/x/.envrc' store/objects/x/.envrc
named 'mkdir .git/objects/zz; echo x >.git/objects/zz/.envrc' .git/objects/zz/.envrc
silent 'mkdir -p nested/.git/objects/pack/deep'
sleep 0.05
named 'echo x >nested/.git/objects/pack/deep/.envrc' nested/.git/objects/pack/deep/.envrc
silent 'echo more >>src/more; git add src/more; git -c user.name=a -c user.email=a@b commit -qm more'

echo "--- what is more than a line holds is in the trail"
named 'i=0; while [ $i -lt 30 ]; do mkdir many$i; echo x >many$i/.envrc; i=$((i+1)); done' many0/.envrc
has "$ERR" "and 10 more"
session=$(printf '%s\n' "$ERR" | sed -n 's/.*wardfs audit show //p' | tail -n 1)
expect 0 "$WARDFS" audit show --json "$session"
has "$OUT" '"host_executed"'
has "$OUT" 'many9/.envrc'

echo "--- in another's project what is behind a link is looked at with the rights of its owner"
mkdir "$WARD_TMP/theirs" "$WARD_TMP/behind"
cd "$WARD_TMP/theirs"
ln -s ../behind .vscode
chown -hR 4711:4711 .
for mode in 755 700; do
	chmod $mode "$WARD_TMP/behind"
	echo before >"$WARD_TMP/behind/tasks.json"
	rm -f begun go
	"$WARDFS" run --policy medium -- sh -c ': >begun; i=0; until [ -e go ] || [ $i = 600 ]; do sleep 0.1; i=$((i + 1)); done' 2>"$WARD_TMP/said" &
	run=$!
	trap 'kill $run 2>/dev/null || :' EXIT
	wait_until 60 test -e begun || fail "not started: $(cat "$WARD_TMP/said")"
	echo after >>"$WARD_TMP/behind/tasks.json"
	: >go
	wait $run || fail "$(cat "$WARD_TMP/said")"
	case $mode in
	755) has "$(cat "$WARD_TMP/said")" .vscode ;;
	700) hasnt "$(cat "$WARD_TMP/said")" .vscode ;;
	esac
done

echo "--- links to all of the host hide nothing that is new in the project"
mkdir "$WARD_TMP/flood" && cd "$WARD_TMP/flood" && git init -q .
named 'mkdir a; for i in 0 1 2 3 4 5 6 7 8 9; do mkdir a/$i; ln -s / a/$i/.vscode; done
	mkdir z z/.vscode; echo x >z/.vscode/tasks.json' z/.vscode

echo "--- a link to a file system that never answers holds nobody up"
mkdir "$WARD_TMP/dead" "$WARD_TMP/near"
/usr/bin/python3 "$WARD_SRC/tests/cases/run/lib/executed-dead.py" "$WARD_TMP/dead" "$WARD_TMP/near" </dev/null >"$WARD_TMP/held" 2>&1 ||
	fail "$(cat "$WARD_TMP/held")"
