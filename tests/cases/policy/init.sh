#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs init` writes a first policy that loads, hides nothing, and fits the project.
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
expect 0 "$WARDFS" init --registries
has "$ERR" "no registry is known for a project of this kind that is not allowed already: 'wardfs policy add allow HOST'"
[ -z "$(git status --porcelain | grep -v -e out -e err -e checked)" ] || fail "the project changed"

echo "--- a second time it adds what is missing and drops nothing; --force starts over"
echo '; mine' >>"$file"
expect 0 "$WARDFS" policy add deny /workspace/mine
cp "$file" before
expect 0 "$WARDFS" init
has "$ERR" "has all lines that init would add"
cmp -s before "$file" || fail "it changed: $(cat "$file")"
touch AGENTS.md
expect 0 "$WARDFS" init --dry-run
has "$OUT" "+ read = /workspace/AGENTS.md"
cmp -s before "$file" || fail "--dry-run wrote"
expect 0 "$WARDFS" init
has "$OUT" "+ read = /workspace/AGENTS.md"
hasnt "$OUT" "- "
[ "$(diff before "$file" | grep -c '^<')" -eq 0 ] || fail "a line was dropped: $(diff before "$file")"
! explain write AGENTS.md || fail "what was added does not hold"
! explain read mine || fail "what was there does not hold"
expect 0 "$WARDFS" policy undo
cmp -s before "$file" || fail "undo: $(cat "$file")"
[ "$(find "$(dirname "$file")" -type f | wc -l)" -eq 1 ] || fail "something was left behind"
echo 'broken' >>"$file"
expect 2 "$WARDFS" init
has "$ERR" "nothing was changed"
has "$ERR" "wardfs policy edit"
"$WARDFS" init --dry-run --force >out 2>err || fail "$(cat err)"
grep -q broken "$file" || fail "--dry-run wrote"
init --force
! grep -q broken "$file" || fail "--force did not replace it"
expect 0 "$WARDFS" policy undo
! grep -q broken "$file" || fail "undo installed what does not load: $(cat "$file")"
grep -q '^; mine$' "$file" || fail "undo: $(cat "$file")"
cd ..

echo "--- each kind is known, what the host runs is guarded, secrets are hidden unless committed"
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
written '; secret = /workspace/terraform.tfvars'
explain write src/a.c || fail "nothing can be written"
cd ..

echo "--- a worktree, with the git directory outside"
git -C all worktree add -q "$PWD/tree"
cd tree
# --dry-run prints all of it, init itself two lines in the place of git's.
init --dry-run
written '[tree '
"$WARDFS" run --policy medium -- sh -c 'cd "$1" && git status' sh "$PWD" >out 2>&1 && fail "control: medium knows it"
init
written 'lines serve it, so that git'
! grep -q '/worktrees/' out || fail "it prints them: $(cat out)"
"$WARDFS" run -- sh -euc '
	cd "$1"
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
	git status --porcelain
	echo x >x
	git add x
	git commit -qm inside
	git update-ref refs/remotes/origin/main HEAD
	mkdir -p "$2/.git/lfs/tmp" && echo x >"$2/.git/lfs/tmp/1" # where git-lfs keeps what it commits
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
written 'lines serve it, so that git'
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

echo "--- a git directory whose name ends in a blank: a policy cuts that, and would name the directory beside it"
mkdir beside
for gitdir in "beside" "beside "; do
	rm -rf blank blank-tree && mkdir blank
	git init -q --separate-git-dir="$PWD/$gitdir" blank
	git -C blank -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m x
	git -C blank worktree add -q "$PWD/blank-tree"
	(cd blank-tree && "$WARDFS" init --dry-run) >out 2>err || fail "$gitdir: $(cat err)"
	if [ "$gitdir" = beside ]; then
		grep -q '^\[tree .*/beside\]' out || fail "a true git directory is not served: $(cat out)"
	else
		! grep -q '^\[tree' out || fail "another directory would be served: $(cat out)"
	fi
done

echo "--- a .git file that names what is not its own"
mkdir planted && cd planted
echo "gitdir: $HOME" >.git
mkdir -p "$HOME/objects" && touch "$HOME/HEAD"
"$WARDFS" init --dry-run >out 2>err || fail "$(cat err)"
written 'no git directory of this project'
! grep -q '^\[tree' out || fail "it would be served"
cd ..

echo "--- the network: registries that the owner knows that the project's files lead to, and nothing that they merely name"
mkdir network && cd network
git init -q .
cat >package.json <<'END'
{"dependencies": {"vite": "^7", "express": "5"}, "scripts": {"dev": "vite --port 4444", "x": "a -p 22"}}
END
cat >package-lock.json <<'END'
{"packages": {
  "a": {"resolved": "https://registry.example/a/-/a-1.tgz"},
  "b": {"resolved": "https://evil.example/b.tgz"},
  "c": {"resolved": "https://user:secret-token@private.example:8443/c.tgz"},
  "d": {"resolved": "https://x_y/d.tgz"},
  "e": {"resolved": "https://*/e.tgz"}}}
END
printf '@scope:registry=https://scope.example/\n//scope.example/:_authToken=secret-token\n' >.npmrc
printf 'flask==3\n--extra-index-url https://wheels.example/simple\n' >requirements.txt
printf '[project]\nname = "x"\n[project.urls]\nurl = "https://home.example"\n[[tool.uv.index]]\nurl = "https://uv.example/simple"\n' >pyproject.toml
printf '[package]\nname = "x"\n' >Cargo.toml
mkdir .cargo && printf '[registries.own]\nindex = "sparse+https://crates.example/index/"\n' >.cargo/config.toml
printf 'module x\n' >go.mod
# What the owner's own tools are told, and the owner's list: known. No tool of this project: pip's.
mkdir -p "$HOME/.config/go" "$HOME/.config/wardfs"
printf 'GOPROXY=https://go.example,direct\n' >"$HOME/.config/go/env"
printf 'registry.example   the company'"'"'s\n' >"${XDG_CONFIG_HOME:-$HOME/.config}/wardfs/registries"
init
for line in 'registry.example:443   ; package-lock.json, 1 time' 'go.example:443   ; your .config/go/env' \
	'evil.example:443   ; package-lock.json, 1 time' 'private.example:8443' 'scope.example:443   ; .npmrc' \
	'wheels.example:443' 'uv.example:443' 'crates.example:443'; do
	written "; allow = $line"
done
for line in 'publish = 5173   ; vite' 'publish = 3000   ; express' 'publish = 4444   ; a script' 'publish = 5000   ; flask'; do
	written "; $line"
done
written '; left out, because it is not a host: 2 times'
# The usual registries of each kind, but where the owner's own settings name another one: go's.
for kind in node python rust; do
	written "   ; usual for $kind"
done
# One that is usual, and named by a file as well: by that file.
npm=$(sed -n 's/^; allow = \(.*:443\)   ; usual for node$/\1/p' out)
cp package-lock.json "$WARD_TMP/lock"
printf '{"packages": {"a": {"resolved": "https://%s/a/-/a-1.tgz"}}}' "$npm" >package-lock.json
expect 0 "$WARDFS" init --force --dry-run
has "$OUT" "; allow = $npm   ; package-lock.json, 1 time"
hasnt "$OUT" '(null)'
cp "$WARD_TMP/lock" package-lock.json
! grep -q 'secret-token\|home.example\|publish = 22\|usual for go' out || fail "$(cat out)"
! grep -q '^allow\|^publish\|^\[network' out || fail "something is allowed: $(cat out)"
! explain connect registry.example:443 || fail "a registry is allowed that nobody asked for"
expect 0 "$WARDFS" init --registries
has "$OUT" "+ allow = $npm"
hasnt "$OUT" "; allow = $npm"
explain connect registry.example:443 || fail "the registry is not allowed"
explain connect go.example:443 || fail "the second one is not allowed"
explain connect "$npm" || fail "the usual registry is not allowed"
for host in evil.example private.example scope.example wheels.example uv.example crates.example; do
	! explain connect "$host:443" || fail "$host is allowed by the project's word"
done
cp "$file" before
expect 0 "$WARDFS" init --registries
has "$ERR" "has all lines"
has "$OUT" '; publish = 5173   ; vite'
# What the file gives by now is not proposed again.
hasnt "$OUT" registry.example
expect 0 "$WARDFS" policy add publish 8000:5173
expect 0 "$WARDFS" policy add allow evil.example:443
expect 0 "$WARDFS" init
hasnt "$OUT" 5173
hasnt "$OUT" evil.example:443
has "$OUT" '; publish = 3000   ; express'
expect 0 "$WARDFS" init --force
printf 'module x\nrequire (\n\tgithub.com/gin-gonic/gin v1\n)\n' >go.mod
printf '[package]\nname = "axum"\n[dependencies]\nrocket = "1"\n' >Cargo.toml
expect 0 "$WARDFS" init --dry-run --force
has "$OUT" '; publish = 8080   ; github.com/gin-gonic/gin'
has "$OUT" '; publish = 8000   ; rocket'
hasnt "$OUT" '; axum'
echo "--- files that are none: a link, a pipe, too large, too deep, no JSON"
expect 0 "$WARDFS" init --force
rm package-lock.json .npmrc requirements.txt pyproject.toml
ln -s /etc/passwd package-lock.json
mkfifo .npmrc
ln -s "$HOME/secret-index" requirements.txt
echo '--index-url https://home-secret.example/' >"$HOME/secret-index"
python3 -c 'print("[" * 100000)' >npm-shrinkwrap.json
truncate -s 5M yarn.lock
python3 -c 'print("{\"resolved\":" * 100000)' >pyproject.toml
expect 0 timeout 60 "$WARDFS" init --force
has "$OUT" '; package-lock.json was not looked at: Too many levels of symbolic links'
has "$OUT" '; .npmrc was not looked at'
has "$OUT" '; npm-shrinkwrap.json was not looked at: it is no JSON object'
has "$OUT" '; yarn.lock was not looked at: it is larger than 4 MiB'
hasnt "$OUT" home-secret
