#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An attestation names the commits made inside, with their trees, as git names them. Commits that
# only arrived on a branch are not named. wardfs does not follow forged git data, and says what it
# did not look at.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$PWD"
STATE=$PWD/wardfs
attested() {
	audit attest --force -o statement "$1" || fail "attest $1"
	vkey=$(audit key show)
	both --attestation statement intact
	python3 "$WARD_SRC/tests/cases/audit/lib/attest-git-of.py" statement work "$@" || fail "$1"
}
as_me() { git -C work -c user.name=T -c user.email=t@example.org "$@"; }
printf '[policy]\nversion = 1\nextends = medium\n' >pol
git init -q -b main work
as_me commit -q --allow-empty -m before
as_me branch older
as_me commit -q --allow-empty -m 'before, too'
ME='export GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=T GIT_COMMITTER_EMAIL=t@example.org; '
inside() { (cd work && "$WARDFS" run --policy ../pol --session "$1" -- sh -c "$ME$2") || fail "run $1"; }

# Two commits on the branch, one on another, a merge; a branch that goes.
inside made 'echo 1 >f && git add f && git commit -qm one &&
	git checkout -qb side && echo 2 >g && git add g && git commit -qm two && git checkout -q main &&
	echo 3 >h && git add h && git commit -qm three && git merge -q --no-edit side && git branch -d older'
attested made main side main~1 main~2
# A commit of before is nothing new, and neither is one that came as a file from elsewhere.
inside none 'git reset -q --hard HEAD~1 && git status --short'
attested none
git clone -q work other
git -C other -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m elsewhere
new=$(git -C other rev-parse HEAD)
git -C other cat-file commit "$new" >object
(cd work && git hash-object -t commit -w ../object >/dev/null) || fail "hash-object"
inside came "git update-ref refs/heads/came $new"
attested came
grep -q '"elsewhere": *1' said || fail "elsewhere: $(cat said)"

# A packed commit, an object that is no commit, and an object that does not match its name.
inside packed "echo 4 >i && git add i && git commit -qm four && git repack -qad && git prune-packed"
attested packed
grep -q 'in a pack' said || fail "packed: $(cat said)"
inside forged 'echo 5 >j && git add j && git commit -qm five && o=$(git rev-parse HEAD | sed "s,..,&/,") &&
	chmod u+w .git/objects/$o && cp .git/objects/$(git rev-parse HEAD^{tree} | sed "s,..,&/,") .git/objects/$o'
attested forged
grep -q 'no commit of that digest' said || fail "forged: $(cat said)"
(cd work && git fsck >/dev/null 2>&1) && fail "control: it is forged"

# Repositories further down, made inside: not looked at, and the statement says where.
inside below 'git init -q sub && git -C sub commit -q --allow-empty -m inside && git init -q --bare bare && git -C sub push -q ../bare HEAD'
attested below
for place in sub/.git bare; do
	grep -q "\"/workspace/$place: objects were written there" said || fail "below: $(cat said)"
done
grep -q '"/workspace/.git: ' said && fail "the top of the tree: $(cat said)"
rm -rf work/sub work/bare

# A bomb, a link out, a fifo in the place of an object or a branch: nothing is waited for or
# followed.
bomb=$(printf 'bomb' | sha1sum | cut -c1-40)
inside hostile "mkdir -p .git/objects/$(echo "$bomb" | cut -c1-2) &&
	python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(b\"commit 1\\0\" + bytes(1 << 26), 9))' \
		>.git/objects/$(echo "$bomb" | sed 's,..,&/,') && echo $bomb >.git/refs/heads/bomb &&
	mkfifo .git/refs/heads/fifo && ln -s /etc/hostname .git/refs/heads/link; ls .git/refs/heads"
attested hostile
grep -q 'not_looked_at": *\["' said || fail "hostile: $(cat said)"

# Without a repository nothing is said; what lies elsewhere is said not to be looked at.
mkdir plain
(cd plain && "$WARDFS" run --policy ../pol --session plain -- true) || fail "run plain"
expect 0 audit show plain --kind git
[ -z "$OUT" ] || fail "without a repository: $OUT"
git -C other worktree add -q ../tree HEAD || fail "worktree"
(cd tree && "$WARDFS" run --policy ../pol --session tree -- true) || fail "run tree"
expect 0 audit show tree --kind git
has "$OUT" 'the git directory lies elsewhere'
