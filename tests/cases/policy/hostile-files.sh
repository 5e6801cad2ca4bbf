#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Project files try to keep a start busy, blocked or out of memory: huge sparse files, pipes, and
# many that are large together. wardfs skips each, or refuses the start with its name and the
# limit. Time limits only end a hang.
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
start() {
	expect "$1" timeout 300 "$WARDFS" run -- sh -c 'echo started'
	[ "$1" -ne 0 ] || has "$OUT" started
}
# fresh: a repository; without anything special it starts
fresh() {
	cd "$WARD_TMP" || exit 1
	rm -rf p
	project p
	cd p || exit 1
	mkdir -p .git/info .git/objects/info
}
fresh
start 0

echo "--- a terabyte, or a pipe, where a file is read: which one, and how large it may be"
for file in .wardfs.policy:1 .git/config:1 .git/config.worktree:1 .git/commondir:1 .git:1; do
	name=${file%:*}
	fresh
	[ "$name" != .git ] || rm -rf .git
	rm -f "$name"
	truncate -s 1T "$name" || skip "this file system has no files of a terabyte"
	start 2
	has "$ERR" "/$name is larger than ${file#*:} MiB"
	rm "$name"
	mkfifo "$name"
	if [ "$name" = .wardfs.policy ]; then
		start 2
		has "$ERR" "/$name is not a regular file"
	else
		start 0
	fi
done

echo "--- the same where nothing is read at the start: it starts"
for name in .git/HEAD .git/index .git/packed-refs .gitmodules .git/info/attributes .git/objects/info/alternates; do
	fresh
	rm -f "$name"
	truncate -s 1T "$name"
	start 0
	rm "$name"
	mkfifo "$name"
	start 0
done

echo "--- a project file of as many patterns as it may have, and of more"
fresh
{
	printf '[policy]\nversion = 1\n[guard]\n'
	seq 4500 | sed "s,.*,hide = /workspace/$(printf '*a%.0s' $(seq 100))&*,"
} >.wardfs.policy
[ "$(stat -c %s .wardfs.policy)" -gt 950000 ] || fail "control: $(stat -c %s .wardfs.policy)"
has "$("$WARDFS" policy explain read a1 2>&1)" "/workspace/a1"
start 0
cat .wardfs.policy .wardfs.policy >twice
mv twice .wardfs.policy
start 2
has "$ERR" "/.wardfs.policy is larger than 1 MiB"

echo "--- 30,000 guards that match the same names: each is not compared with all others without end"
fresh
{
	printf '[policy]\nversion = 1\n[guard]\n'
	seq 30000 | sed 's/.*/deny = *a*b*c*d*/'
} >.wardfs.policy
timeout 600 "$WARDFS" policy check >said 2>&1 || fail "$(tail -n 3 said)"
grep -q "[0-9]* of [0-9]* rules: too many patterns match the same names" said || fail "$(tail -n 3 said)"
expect 2 timeout 600 "$WARDFS" policy diff medium high
has "$ERR" "too many rules to compare all classes of paths: use --tree"
expect 0 timeout 600 "$WARDFS" policy explain read a
expect 0 timeout 600 "$WARDFS" policy add read notes
has "$OUT" "[files] read = notes"
has "$OUT" "there are too many rules to compare all paths"
expect 0 timeout 600 "$WARDFS" policy undo

echo "--- the index, which policy check reads"
fresh
truncate -s 1T .git/index
expect 0 timeout 300 "$WARDFS" policy check
has "$OUT" "git index of $PWD: File too large"
rm .git/index
mkfifo .git/index
expect 0 timeout 300 "$WARDFS" policy check
has "$OUT" "git index of $PWD: Invalid argument"

echo "--- many .git files, each a little below what one may have"
fresh
many() {
	for i in $(seq "$1"); do
		mkdir -p "d$i"
		echo 'gitdir: nowhere' >"d$i/.git"
		truncate -s 1000000 "d$i/.git"
	done
}
many 20
start 0
many 40
start 2
has "$ERR" "/.git the start would read more than 32 MiB"
has "$ERR" "with /workspace/d"
