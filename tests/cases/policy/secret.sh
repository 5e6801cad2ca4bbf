#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `secret` hides files that existed before the session, lets committed files be read, refuses
# files that git tracks without a commit, and leaves the session its own files. git, a build and a
# scaffold work.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v python3 >/dev/null || skip "no python3"
git_identity
project app
cd app || exit 1
printf 'VITE_URL=1\n' >.env.production
printf 'T=1\n' >.env.test
printf '.env\n' >.gitignore
mkdir sub secrets
ln -s ../.env sub/.env.link
git add -A
git commit -qm start
echo 'KEY=before' >.env
echo 'PEM=before' >x.pem
echo 'T=2' >>.env.test
before=$(git rev-parse HEAD)
sums() { sha256sum .env x.pem .env.test .env.production; }
sums >../sums

# Each of the cases, in the first session.
cat >inside.sh <<'S'
set -eu
refuse() { # TEXT CMD...
	text=$1
	shift
	if out=$("$@" 2>&1); then echo "allowed: $*: $out"; exit 1; fi
	case $out in *"$text"*) ;; *) echo "$*: $out, not $text"; exit 1 ;; esac
}
rename() { python3 -c 'import os, sys; os.rename(*sys.argv[1:])' "$@"; }
none='No such file'
no='Permission denied'
cross='cross-device link'
cat .env.production | grep -qx VITE_URL=1
[ "$(readlink sub/.env.link)" = ../.env ]
for f in .env x.pem; do
	refuse "$none" cat "$f"
	refuse "$none" stat "$f"
	refuse "$none" mv "$f" moved
	refuse "$none" ln "$f" linked
	refuse "$none" rm "$f"
	refuse "$none" chmod 777 "$f"
	refuse "$no" sh -c "echo x >$f"
	refuse "$no" mkdir "$f"
	refuse "$no" ln -s /etc/passwd "$f"
	echo visible >v
	refuse "$no" mv v "$f"
	refuse "$no" ln v "$f"
	rm v
	! ls -A | grep -qxF "$f" || exit 1
done
stat .env.test >/dev/null
refuse "$no" cat .env.test
refuse "$no" mv .env.test moved
refuse "$no" rm .env.test
refuse "$no" sh -c 'echo x >>.env.test'
# Its own: made, written, moved here, linked, replaced; by any name.
printf 'a\n' >.env.local
printf 'b\n' >.env.local.tmp
mv .env.local.tmp .env.local
[ "$(cat .env.local)" = b ]
sed -i 's/b/c/' .env.local
[ "$(cat .env.local)" = c ]
# A second name outside of the rule would show to the next session what is written at the first: cp
# and mv copy.
ln .env.local other.pem
refuse "$cross" ln .env.local other
refuse "$cross" rename other.pem other
echo d >shown
ln shown shown2
refuse "$cross" ln shown made.pem
refuse "$cross" rename shown2 made.pem
rm other.pem shown shown2
mv .env.local shown
mv shown sub/id_rsa
[ "$(cat sub/id_rsa)" = c ]
mkdir -p .env.d/deep
echo in >.env.d/deep/f
[ "$(cat .env.d/deep/f)" = in ]
rm -r .env.d sub/id_rsa
# A file that git has may be written, and is the session's from then on.
echo 'VITE_URL=2' >>.env.production
grep -qx VITE_URL=2 .env.production
git restore .env.production
grep -qx VITE_URL=1 .env.production
echo fine
S
expect 0 "$WARDFS" run -- sh inside.sh
[ "$OUT" = fine ] || fail "$OUT $ERR"
sums | diff - ../sums || fail "something was changed"

# git, as agents call it: nothing that is hidden is added, deleted, stashed or cleaned away.
git restore .env.test
echo code >a.c
expect 0 "$WARDFS" run -- sh -c 'git add -A && git commit -qm more && touch u && git stash -qu && git clean -fdxq && echo ok'
[ "$OUT" = ok ] || fail "$OUT $ERR"
[ "$(git show --stat --format= HEAD | grep -c '|')" = 2 ] || fail "committed: $(git show --stat)"
[ "$(cat .env x.pem)" = "KEY=before
PEM=before" ] || fail "a hidden file was taken"
[ "$(git rev-parse HEAD~)" = "$before" ] || fail "history"

# A build that reads the names Vite reads, tests that read .env, and a scaffold that makes one.
cat >build.js <<'J'
const fs = require('fs')
let read = 0
for (const f of ['.env', '.env.local', '.env.production', '.env.production.local'])
	try { if (fs.statSync(f).isFile()) read += fs.readFileSync(f, 'utf8').length } catch (e) {
		if (e.code !== 'ENOENT') throw e
	}
console.log(read)
J
if command -v node >/dev/null; then
	expect 0 "$WARDFS" run -- node build.js
	[ "$OUT" = 11 ] || fail "build: $OUT"
fi
expect 0 "$WARDFS" run -- sh -c 'mkdir new && echo DB=1 >new/.env && cat new/.env'
[ "$OUT" = DB=1 ] || fail "$OUT"
# The next session knows nothing of it: it was there before.
expect 1 "$WARDFS" run -- cat new/.env
has "$ERR" "No such file"
# A directory that holds something hidden is not removed, and not moved to where it would show.
expect 1 "$WARDFS" run -- rm -r new
has "$ERR" "not empty"
expect 0 "$WARDFS" run -- sh -c 'mv new newer && ! cat newer/.env 2>/dev/null && mv newer new'

# explain and check tell the case; [test] can name it.
explain() { "$WARDFS" policy explain "$@" >../out || [ $? -eq 1 ]; }
explain read .env
grep -q '^  secret  there: ' ../out || fail "$(cat ../out)"
grep -q -- '--lift-guard read /workspace/.env' ../out || fail "$(cat ../out)"
# A name that an agent chose stays one word of the command.
echo key >'.env.;touch hit;'
explain read '.env.;touch hit;'
grep -qF -- "--lift-guard read '/workspace/.env.;touch hit;''" ../out || fail "$(cat ../out)"
rm '.env.;touch hit;'
explain read .env.production
grep -q '^  secret  committed: ' ../out || fail "$(cat ../out)"
explain create .env.new
grep -q '^  secret  absent: ' ../out || fail "$(cat ../out)"
echo T=3 >>.env.test
explain --json read .env.test
grep -q '"fact": *"differs"' ../out || fail "$(cat ../out)"
expect 0 "$WARDFS" policy check
has "$OUT" "/workspace/.env.test: note: secret: "
has "$OUT" "/workspace/.env.production: note: secret: "
git restore .env.test
cat >../t.policy <<'P'
[policy]
version = 1
extends = medium
[test]
expect = read /workspace/.env hide
expect = read:differs /workspace/.env deny
expect = read:committed /workspace/.env allow
expect = write:own /workspace/.env allow
expect = create /workspace/.env allow
expect = create:there /workspace/.env hide
expect = rename:own /workspace/.env /workspace/x allow
expect = rename /workspace/.env /workspace/x hide
P
expect 0 "$WARDFS" policy test ../t.policy
sed -i 's/read:differs/read:own/' ../t.policy
expect 1 "$WARDFS" policy test ../t.policy

# The index decides nothing by itself: an earlier session's entry, with another content, reveals
# nothing.
expect 0 "$WARDFS" run -- sh -c 'b=$(echo guess | git hash-object -w --stdin) && git update-index --add --cacheinfo 100644,$b,.env && git update-index --add --cacheinfo 100644,$b,x.pem'
expect 1 "$WARDFS" run -- cat .env
has "$ERR" "Permission denied"
git rm -qf --cached .env x.pem
# The control: with this content it is what git has.
git add -f .env
expect 0 "$WARDFS" run -- cat .env
git rm -qf --cached .env
# An index that cannot be read: nothing is known, nothing is hidden that git might delete.
cp .git/index ../index
printf 'DIRC garbage' >.git/index
expect 1 "$WARDFS" run -- cat .env.production
has "$ERR" "Permission denied"
cp ../index .git/index
# SHA-256, a worktree, a repository in the project, a directory of one, and none.
git init -q --object-format=sha256 256
mkdir -p 256/d
echo K=256 >256/d/.env
git -C 256 add -A
git worktree add -q --detach tree
git clone -q . clone
cp .env clone/.env
expect 0 "$WARDFS" run -- cat 256/d/.env tree/.env.production clone/.env.production
expect 1 "$WARDFS" run -- cat clone/.env
(cd 256/d && expect 0 "$WARDFS" run -- cat .env) || exit 1
mkdir ../bare
echo K=0 >../bare/.env
(cd ../bare && expect 1 "$WARDFS" run -- cat .env) || exit 1
# Nor can an earlier session keep a start from coming about, by repositories that cannot be read, or
# by names.
python3 -c '
import os
for i in range(1100):
    os.makedirs(f"many/{i}/.git")
    open(f"many/{i}/.git/index", "w").write("junk")'
echo K=1 >many/7/.env
expect 1 "$WARDFS" run -- cat many/7/.env
has "$ERR" "Permission denied"
rm -r many
b=$(git hash-object -w --stdin </dev/null)
seq 40000 | sed "s|.*|100644 $b	names/&.pem|" | git update-index --index-info
expect 1 "$WARDFS" run -- cat .env
has "$ERR" "Permission denied"
expect 0 "$WARDFS" audit verify --all
