#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What means something only together is applied together or not at all: the state of git, and a
# database with its journals.
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

repository() {
	fresh
	git -C "$PROJECT" add .
	git -C "$PROJECT" commit -qm base
	chown -R --reference="$PROJECT" "$PROJECT/.git"
}
COMMIT='echo new >>changed; git add changed; git -c user.name=a -c user.email=a@b commit -qm theirs; echo w >work'

echo "--- a commit of the session becomes one of the project"
repository
expect 0 "$WARDFS" run --review -s one -- sh -ec "$COMMIT; git branch -q side; git tag v1"
[ "$(git log --format=%s)" = base ] || fail "the project has a commit before apply"
expect 0 "$WARDFS" review apply
[ "$(git log --format=%s | head -1)" = theirs ] || fail "the commit did not arrive: $ERR"
git fsck --strict >"$WARD_TMP/fsck" 2>&1 || fail "$(cat "$WARD_TMP/fsck")"
[ "$(git --no-optional-locks status --porcelain)" = "?? work" ] || fail "the index is another one: $(git status --porcelain)"
[ "$(git rev-parse side v1)" = "$(git rev-parse HEAD HEAD)" ] || fail "branch and tag"
echo "--- an undo of a part is refused; then all of it"
expect 1 "$WARDFS" review undo .git/refs
has "$ERR" "they go together"
[ "$(git log --format=%s | head -1)" = theirs ] || fail "a part of git was undone"
expect 0 "$WARDFS" review undo
[ "$(git log --format=%s)" = base ] && [ -z "$(git --no-optional-locks status --porcelain)" ] || fail "undo: $(git status)"
git fsck --strict >"$WARD_TMP/fsck" 2>&1 || fail "after undo: $(cat "$WARD_TMP/fsck")"

echo "--- a lock means that git is at work"
touch .git/index.lock
expect 1 "$WARDFS" review apply
has "$ERR" "git is at work in the project"
[ "$(git log --format=%s)" = base ] && [ "$(cat work)" = w ] || fail "a part of git was applied, or the rest was not"
rm .git/index.lock
echo "--- a part of it alone is refused, too"
expect 1 "$WARDFS" review apply .git/index
has "$ERR" "they go together"
[ -z "$(git diff --cached --name-only)" ] || fail "the index was applied alone"
expect 0 "$WARDFS" review apply .git
[ "$(git log --format=%s | head -1)" = theirs ] || fail "control: all of it is applied"

echo "--- the host committed meanwhile: nothing of git's state changes"
repository
expect 0 "$WARDFS" run --review -s two -- sh -ec "$COMMIT"
echo mine >mine
git add mine
git commit -qm mine
head=$(git rev-parse HEAD)
before=$(find .git -type f -exec sha256sum {} + | sort -k2)
expect 1 "$WARDFS" review apply
has "$ERR" "they go together"
[ "$(git rev-parse HEAD)" = "$head" ] || fail "the host's commit is lost"
[ "$(find .git -type f -exec sha256sum {} + | sort -k2)" = "$before" ] || fail "a part of git was applied"
[ "$(cat work)" = w ] && [ "$(tail -1 changed)" = new ] || fail "the rest was not applied"
expect 1 "$WARDFS" review apply --dry-run
has "$ERR" "they go together"

echo "--- git works in the project during the apply: all of it arrives, or nothing"
arrived=0 kept=0
for i in 1 2 3 4 5 6 7 8; do
	repository
	for n in $(seq 30); do echo "$n" >"many$n"; done
	own
	expect 0 "$WARDFS" run --review -s "race$i" -- sh -ec "git add .; $COMMIT"
	before=$(git rev-parse HEAD)
	"$WARDFS" review apply .git >"$WARD_TMP/out" 2>&1 &
	pid=$!
	sleep "0.0$i"
	printf 'x' >>.git/COMMIT_EDITMSG
	git update-index --really-refresh >/dev/null 2>&1 || :
	wait $pid || :
	git fsck --strict >"$WARD_TMP/fsck" 2>&1 || fail "$(cat "$WARD_TMP/fsck")"
	if [ "$(git rev-parse HEAD)" = "$before" ]; then
		kept=$((kept + 1))
		[ -z "$(git --no-optional-locks diff --cached --name-only)" ] || fail "the index came without its commit: $(cat "$WARD_TMP/out")"
	else
		arrived=$((arrived + 1))
		[ -z "$(git --no-optional-locks diff --cached --name-only)" ] || fail "the commit came without its index: $(cat "$WARD_TMP/out")"
	fi
done
echo "arrived $arrived, kept $kept"

echo "--- a database and its journals"
db() { python3 -c 'import sqlite3,sys; print([r[0] for r in sqlite3.connect(sys.argv[1]).execute("select x from t")])' "$1"; }
LEAVE='import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1]); c.execute("pragma journal_mode=wal"); c.execute("insert into t values (2)"); c.commit(); os._exit(0)'
fresh
python3 -c 'import sqlite3; c = sqlite3.connect("app.db"); c.execute("create table t (x)"); c.execute("insert into t values (1)"); c.commit()'
own
expect 0 "$WARDFS" run --review -s three -- python3 -c "$LEAVE" app.db
expect 0 "$WARDFS" review
has "$OUT" "app.db-wal"
expect 1 "$WARDFS" review apply app.db
has "$ERR" "they go together"
[ "$(db app.db)" = "[1]" ] || fail "a part was applied"
expect 0 "$WARDFS" review apply
[ "$(db app.db)" = "[1, 2]" ] || fail "not what the session wrote: $(db app.db)"

echo "--- a program of the host uses the database"
fresh
python3 -c 'import sqlite3; c = sqlite3.connect("app.db"); c.execute("create table t (x)"); c.execute("insert into t values (1)"); c.commit()'
own
expect 0 "$WARDFS" run --review -s four -- python3 -c 'import sqlite3; c = sqlite3.connect("app.db"); c.execute("insert into t values (3)"); c.commit()'
echo journal >app.db-journal
expect 1 "$WARDFS" review apply
has "$ERR" "a program may be using it"
rm app.db-journal
expect 0 "$WARDFS" review apply
[ "$(db app.db)" = "[1, 3]" ] || fail "control: without the journal it is applied"

echo "--- so it does with one of many"
fresh
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo old >"many$n"; done
own
expect 0 "$WARDFS" run --review -s five -- sh -c 'for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo new >"many$n"; done'
echo journal >many9-wal
expect 1 "$WARDFS" review apply
has "$ERR" "many9: not applied: the project has a journal of it"
[ "$(sort -u many?* | tr '\n' ' ')" = "journal new old " ] && [ "$(cat many9)" = old ] ||
	fail "the others were not applied: $(grep . many*)"
rm many9-wal
expect 0 "$WARDFS" review apply
[ "$(cat many9)" = new ] || fail "control: without the journal it is applied"
