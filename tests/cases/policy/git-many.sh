#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: a session makes more repositories than wardfs remembers, or few at long paths, so that
# no session starts any more or a repository of the owner's is forgotten. The control: other files
# can be written.
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity
top=$WARD_TMP
lib=$WARD_SRC/tests/cases/policy/lib/git-many.py
guards=$HOME/.local/state/wardfs/guards
evil='mkdir -p v/lib.git/hooks; echo evil >v/lib.git/hooks/update && echo evil >>v/lib.git/config'
set_up() {
	cd "$top"
	rm -rf p
	mkdir p
	cd p
	git init -q .
	git init -q --bare v/lib.git
	mkdir -p v/other
}

echo "--- more repositories than are remembered, made by a session: the next one starts, and writes into none"
set_up
# The files that the session would make; it takes longer through the guard.
python3 "$lib" make
evil_all='for d in a/r4* v/lib.git; do mkdir -p $d/hooks && echo evil >$d/hooks/update; done; echo evil >>v/lib.git/config
	echo ok >a/plain'
none() {
	! grep -rqs evil a v || fail "$1: written: $(grep -rl evil a v | head -n 3)"
	[ -s a/plain ] || fail "control: nothing can be written in a"
	rm a/plain
}
"$WARDFS" run -- sh -c "$evil_all" >../out 2>&1 || :
none 'too many'
has "$(cat ../out)" 'more than 4096 git directories'
has "$(cat ../out)" "wardfs policy forget $top/p"
expect 0 "$WARDFS" policy check
has "$OUT" "wardfs policy forget $top/p"
# The session takes HEAD away from one that is not listed, and all that fill the list: it stays
# guarded.
expect 0 "$WARDFS" run -- mv v/lib.git/HEAD v/other
python3 "$lib" spoil
"$WARDFS" run -- sh -c "$evil_all" >../out 2>&1 || :
none 'later'
# The owner looks, removes them, and types what the message names.
rm -r a
expect 0 "$WARDFS" run -- true
has "$ERR" 'more than 4096 git directories'
expect 0 "$WARDFS" policy forget "$top/p"
expect 0 "$WARDFS" run -- sh -c 'mkdir -p some/hooks && echo ok >some/hooks/file'
hasnt "$ERR" 'more than 4096'
expect 2 "$WARDFS" run -- sh -c "$evil"
has "$ERR" 'lib.git was a repository'

echo "--- more projects than are remembered: those that are gone are dropped, and a command ends the rest"
rm -rf "$guards"
set_up
expect 0 "$WARDFS" run -- true
dir=$(dirname "$(find "$guards" -type f ! -name lock ! -name '.*')")
# files COUNT PLACE: of so many projects.
files() {
	python3 "$lib" files "$dir" "$@"
}
files 4090 /gone
expect 0 "$WARDFS" run -- true
[ "$(find "$dir" -type f | wc -l)" -lt 10 ] || fail "files of projects that are gone: $(find "$dir" -type f | wc -l)"
expect 0 "$WARDFS" policy check
mkdir "$top/stay"
(cd "$top/stay" && seq 0 4199 | xargs mkdir)
files 4200 "$top/stay"
expect 125 "$WARDFS" run -- true
has "$ERR" "wardfs policy forget --all DIR"
expect 0 "$WARDFS" policy forget --all "$top/stay"
expect 0 "$WARDFS" run -- true

echo "--- more bytes than are remembered, in few files: the same"
files 70 "$top/stay" 260000
expect 125 "$WARDFS" run -- true
has "$ERR" "has more than 4096 projects or 16 MiB"
expect 0 "$WARDFS" policy forget --all "$top/stay"
files 70 /gone 260000
expect 0 "$WARDFS" run -- true
[ "$(find "$dir" -type f | wc -l)" -lt 10 ] || fail "files of projects that are gone: $(find "$dir" -type f | wc -l)"

echo "--- few repositories at long paths: the next session starts, and writes into none"
rm -rf "$guards"
set_up
python3 "$lib" long
evil_long='cd long; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do cd d*; done; echo ok >plain
	for d in r*; do mkdir -p $d/hooks && echo evil >$d/hooks/update; echo evil >>$d/config; done'
"$WARDFS" run -- sh -c "$evil_long" >../out 2>&1 || :
has "$(cat ../out)" 'or fewer at long paths'
! grep -rqs evil long || fail "written: $(grep -rls evil long | head -n 1)"
find long -name plain -size +0 | grep -q . || fail "control: nothing can be written there: $(cat ../out)"
expect 0 "$WARDFS" policy check
rm -r long
expect 0 "$WARDFS" policy forget --all "$top/p"
expect 0 "$WARDFS" run -- true
exit 0
