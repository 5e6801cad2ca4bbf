#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HEAD and commondir alone make a git directory, whose hooks and config lie in another directory.
# That one has no HEAD, so that it does not look like a repository: a start guards both. A bare
# repository may have links in the place of objects and refs.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p
make_data() { # DIR
	mkdir -p "$1/objects" "$1/refs" "$1/hooks"
	printf '[core]\n\tbare = true\n[alias]\n\tx = !echo from-the-config\n' >"$1/config"
}
make_linked() { # DIR COMMONDIR
	mkdir -p "$1"
	echo 'ref: refs/heads/main' >"$1/HEAD"
	echo "$2" >"$1/commondir"
	[ "$(git -C "$1" x)" = from-the-config ] || fail "control: git on the host does not take $1"
}
closed() { # FILE: a session can neither write nor replace it
	expect 2 "$WARDFS" run -- sh -c "echo x >>$1"
	has "$ERR" 'Permission denied'
	expect 1 "$WARDFS" run -- mv other "$1"
	has "$ERR" 'Permission denied'
}
echo x >other
make_data data

echo "--- control: a directory that no repository names can be written to"
expect 0 "$WARDFS" run -- sh -c 'echo "# x" >>data/config && echo x >data/hooks/pre-commit'

echo "--- one that a commondir names, by a relative and by an absolute path, behind a link as well"
for named in ../data "$PWD/data"; do
	make_linked w "$named"
	for f in data/config data/hooks/pre-commit w/commondir; do closed "$f"; done
	expect 0 "$WARDFS" run -- sh -c ': >>w/HEAD && echo x >data/refs/x && rm data/refs/x'
	rm -r w
	expect 0 "$WARDFS" policy forget "$PWD/data"
done
ln -s data linked
make_linked w ../linked
ln -sf refs/heads/main w/HEAD
closed data/config
expect 1 "$WARDFS" run -- ln -sfn other linked
has "$ERR" 'Permission denied'
rm -r w linked
expect 0 "$WARDFS" policy forget "$PWD/data"

echo "--- a bare repository whose objects and refs are links"
make_data bare
echo 'ref: refs/heads/main' >bare/HEAD
for d in objects refs; do
	mv "bare/$d" "the-$d"
	ln -s "../the-$d" "bare/$d"
done
[ "$(git -C bare x)" = from-the-config ] || fail 'control: links'
closed bare/config
rm -r bare the-objects the-refs

echo "--- it stays guarded when a commondir leads elsewhere, and so does a name where nothing is"
make_linked w ../data
closed data/config
echo ../later >w/commondir
closed data/config
has "$ERR" "$PWD/data was a repository at an earlier start"
expect 1 "$WARDFS" run -- mkdir later
has "$ERR" 'Permission denied'
rm -rf w
expect 0 "$WARDFS" policy forget "$PWD/data"

echo "--- named by a .git file, and the project itself"
make_linked g ../data
mkdir -p sub
echo 'gitdir: ../g' >sub/.git
[ "$(git -C sub x)" = from-the-config ] || fail 'control: sub'
closed data/config
rm -rf sub g
expect 0 "$WARDFS" policy forget "$PWD/data"
rm -rf .git
echo 'ref: refs/heads/main' >HEAD
echo data >commondir
[ "$(git x)" = from-the-config ] || fail 'control: the top'
closed data/config
closed commondir
rm HEAD commondir

echo "--- a worktree's git directory names a repository that is guarded already: once"
git_identity
git init -q main
git -C main commit -q --allow-empty -m one
git -C main worktree add -q ../tree
"$WARDFS" run --dry-run -v -- true >../dry
[ "$(grep -c 'read = /workspace/main/.git/config$' ../dry)" -eq 1 ] || fail "$(grep main ../dry)"
closed main/.git/config
