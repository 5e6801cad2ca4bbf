#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a session makes in a project does not choose a later session's policy. For every verb the
# project is the nearest directory with an owner's policy or a kept home, or one that the owner
# chose by `wardfs init`.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir -p p/sub/deep
echo kept >p/sub/secret
cd p || exit 1
"$WARDFS" init >/dev/null 2>&1
"$WARDFS" policy add -g hide /workspace/sub/secret >/dev/null
own=$(ls "$XDG_CONFIG_HOME"/wardfs/projects/*.policy)
p=$WARD_TMP/p

# mine DIR: what is started there is under the policy of p.
mine() {
	cd "$1" || exit 1
	expect 1 "$WARDFS" run -- cat "$p/sub/secret"
	has "$ERR" "(your policy:"
	cd "$p" || exit 1
}
# The control: no mark, and each is found from beneath.
for d in "$p" "$p/sub" "$p/sub/deep"; do
	mine "$d"
	hasnt "$ERR" "wardfs init"
done

# Marks that a session leaves: said, with both directories and the command, and not followed.
for mark in 'git init -q sub' 'touch sub/.wardfs.policy' 'printf "[policy]\nversion = 1\n" >sub/.wardfs.policy' \
	'git init -q sub/deep' 'git init -q --separate-git-dir sub/other sub/deep' 'git init -q sub; chmod 777 .'; do
	rm -rf sub/.git sub/.wardfs.policy sub/deep/.git sub/other
	expect 0 "$WARDFS" run -- sh -ec "$mark"
	mine "$p/sub/deep"
	has "$ERR" "the project is $p"
	has "$ERR" "wardfs init"
	has "$ERR" "$p/sub"
	[ "$(printf '%s\n' "$ERR" | grep -c 'wardfs init')" = 1 ] || fail "said more than once: $ERR"
	hasnt "$("$WARDFS" run -- true 2>&1)" "wardfs init"
done

# Every verb that finds the project finds this one.
cd sub/deep || exit 1
expect 1 "$WARDFS" policy explain read ../secret
has "$OUT" "-p.policy"
has "$ERR" "the project is $p"
expect 0 "$WARDFS" policy show
has "$OUT" "/workspace/sub/secret"
expect 0 "$WARDFS" policy check
expect 0 "$WARDFS" policy add --force read /workspace/sub/deep
grep -q "^read = /workspace/sub/deep" "$own" || fail "policy add wrote elsewhere"
[ "$(ls "$XDG_CONFIG_HOME/wardfs/projects")" = "${own##*/}" ] || fail "another file: $(ls "$XDG_CONFIG_HOME/wardfs/projects")"
expect 0 "$WARDFS" profile list
has "$OUT" "-p.policy"
expect 0 "$WARDFS" run --dry-run -- true
has "$OUT" "-p.policy"
expect 0 "$WARDFS" learn --write=../../learned.policy -- sh -c 'pwd; test -e /workspace/sub/deep'
cd "$p" || exit 1

# The owner says that sub/deep is a project: `wardfs init` there. It is one, and sub is none.
rm -rf sub/.git sub/deep/.git
git init -q sub && git init -q sub/deep
cd sub/deep || exit 1
expect 0 "$WARDFS" init
has "$ERR" "deep.policy"
hasnt "$ERR" "the project is"
expect 0 "$WARDFS" run -- sh -c 'test ! -e /workspace/sub && touch /workspace/made'
hasnt "$ERR" "wardfs init"
[ -e made ] || fail "sub/deep is no project"
mine "$p/sub"
# The home that its session left makes it none, where a policy is above.
rm "${own%.policy}"-sub-deep.policy
mine "$p/sub/deep"
has "$ERR" "the project is $p"

# Where there is no policy the nearest kept home counts.
cd "$WARD_TMP" || exit 1
project h
mkdir h/sub
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = project\n' >home.policy
cd h || exit 1
expect 0 "$WARDFS" run --policy ../home.policy -- sh -c 'echo mark >~/found; git init -q /workspace/sub'
cd sub || exit 1
expect 0 "$WARDFS" run --policy ../../home.policy -- cat /agent-home/found
has "$OUT" mark
has "$ERR" "the project is $WARD_TMP/h"
expect 0 "$WARDFS" home size
expect 0 "$WARDFS" home clear
has "$OUT" "cleared: $WARD_TMP/h"
# Without either the nearest mark is the project, as ever; and its home then makes it one.
for i in 1 2; do
	expect 0 "$WARDFS" run -- sh -c 'test ! -e /workspace/sub'
	hasnt "$ERR" "the project is"
done

# One session in a directory of projects does not make them part of it. Each directory that was
# there before the session, and that no session made, is a project of its own, from within it, too.
# A directory that a session makes is no project, and neither is a project that it makes of another
# directory.
cd "$WARD_TMP" || exit 1
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >open.policy
mkdir -p many/app/src many/file many/plain many/late
git init -q many/app
mkdir many/app/vendor && git init -q many/app/vendor
printf '[policy]\nversion = 1\n[guard]\nhide = kept\n' >many/file/.wardfs.policy
echo kept >many/file/kept
cd many || exit 1
# alone DIR: what is started in DIR sees that directory alone, and nothing is said of it.
alone() {
	expect 0 "$WARDFS" run -- sh -c "test ! -e /workspace/plain && test '$PWD' = '$1'"
	hasnt "$ERR" "the project is"
}
# around: what is started here sees all of many.
around() {
	expect 0 "$WARDFS" run -- test -e /workspace/plain
}
around
hasnt "$ERR" "the project is"
cd app && alone "$PWD" && [ -d src ] || fail "app"
cd src && expect 0 "$WARDFS" run -- test -d /workspace/src && cd ..
cd ../file && alone "$PWD"
expect 1 "$WARDFS" run -- cat kept
has "$ERR" "No such file"
cd .. || exit 1
# A project in a project is one, too.
cd app/vendor && expect 0 "$WARDFS" run -- test ! -e /workspace/src && cd ../..
# A session makes marks, also by moving directories.
around
expect 0 "$WARDFS" run -- sh -ec 'git init -q plain; mkdir -p plain/deep; git init -q plain/deep; mkdir app/x; git init -q app/x; mv app/x late/x; mv late late3'
for d in plain plain/deep late3/x; do
	cd "$WARD_TMP/many/$d" || exit 1
	around
	has "$ERR" "the project is $WARD_TMP/many, because a session ran there. $PWD in it also looks like a project; to make it one, run 'wardfs init' there; if only directories in it are projects: wardfs home clear $WARD_TMP/many"
done
cd "$WARD_TMP/many/app" && alone "$PWD" && cd ..
# Sessions in app have a home by now; without it the same holds: it is no later session's word.
expect 0 "$WARDFS" home clear "$PWD/app"
cd app && alone "$PWD" && cd ..
expect 0 "$WARDFS" home clear "$PWD/app"
# Nor does a session that removes the mark get another project for the next one.
expect 0 "$WARDFS" run --policy "$WARD_TMP/open.policy" -- rm -rf /workspace/app/.git
[ ! -e app/.git ] || fail "control: the mark is there"
cd app && alone "$PWD" && cd ..
# An owner's policy around them is the owner's word.
expect 0 "$WARDFS" init
expect 0 "$WARDFS" home clear "$PWD/app"
cd app && around && cd ..
# A home of before this was kept does not say what was there first.
expect 0 "$WARDFS" policy undo
rm "$XDG_STATE_HOME"/wardfs/homes/*/many-*/before
git init -q late2
cd late2 && around
has "$ERR" "because a session ran there"
expect 0 "$WARDFS" home clear "$WARD_TMP/many"
alone "$PWD"

# The home and the root are never a project, whatever is kept for them.
cd "$WARD_TMP" || exit 1
export HOME="$WARD_TMP/me"
mkdir -p "$HOME/q" "$HOME/.config"
cp "$own" "$XDG_CONFIG_HOME/wardfs/projects/-.policy"
cp "$own" "$XDG_CONFIG_HOME/wardfs/projects/$(printf '%s' "${HOME#/}" | sed 's/-/\\x2d/g; s,/,-,g').policy"
git init -q "$HOME"
cd "$HOME/q" || exit 1
expect 0 "$WARDFS" run -- touch /workspace/here
[ -e here ] || fail "the project is not q"
expect 0 "$WARDFS" policy show
hasnt "$OUT" "/workspace/sub/secret"
cd .. && expect 2 "$WARDFS" run -- true
cd / && expect 2 "$WARDFS" run -- true
echo "--- a directory of projects: said once, before its first session. Controls: one project, a repository"
for d in several one whole; do
	mkdir -p "$WARD_TMP/$d/a/deep" "$WARD_TMP/$d/b" "$WARD_TMP/$d/plain"
	git init -q "$WARD_TMP/$d/a"
	git init -q "$WARD_TMP/$d/a/deep"
done
git init -q "$WARD_TMP/several/b"
git init -q "$WARD_TMP/whole/b"
git init -q "$WARD_TMP/whole"
cd "$WARD_TMP/several" || exit 1
expect 0 "$WARDFS" run -- true
has "$ERR" "$WARD_TMP/several has 2 projects in it, such as "
has "$ERR" "For one of them, change into it first"
for d in several several/a one whole; do
	cd "$WARD_TMP/$d" || exit 1
	expect 0 "$WARDFS" run -- true
	hasnt "$ERR" "projects in it"
done

echo "--- a session that keeps no home counts as well. The control: no mark"
for mode in tmpfs none; do
	d=$WARD_TMP/unkept-$mode
	printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = %s\n[guard]\nhide = /workspace/sub/secret\n' \
		$mode >"$d.policy"
	mkdir -p "$d/sub" "$d/before/x"
	git init -q "$d/before"
	echo kept >"$d/sub/secret"
	git init -q "$d"
	cd "$d/sub" || exit 1
	expect 1 "$WARDFS" run --policy "$d.policy" -- cat secret
	expect 0 "$WARDFS" run --policy "$d.policy" -- git init -q .
	[ -e .git ] || fail "control: no mark"
	expect 1 "$WARDFS" run --policy "$d.policy" -- cat secret
	has "$ERR" "the project is $d, because a session ran there"
	# What no session made is a project of its own.
	cd "$d/before/x" || exit 1
	expect 0 "$WARDFS" run --policy "$d.policy" -- touch /workspace/here
	[ -e "$d/before/here" ] || fail "the project is not before: $ERR"
done
