#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A link that leads to itself, left in a directory as .git or named by a configuration, does not
# refuse later starts: git cannot follow it either. The links are guarded: no later session puts
# something in their place. The controls: a .git file that leads somewhere is followed, and the link
# can be removed outside.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
git init -q .
expect 0 "$WARDFS" run --policy medium -- sh -ec 'mkdir c; ln -s .git c/.git'
expect 0 "$WARDFS" run --policy medium -- true
expect 0 "$WARDFS" run --policy medium -- \
	sh -c 'if rm c/.git || mv c/.git c/x || ln -sfn ../other c/.git; then exit 1; fi'
rm c/.git

mkdir two
ln -s b two/a
ln -s a two/b
git config core.hooksPath two/a
expect 0 "$WARDFS" run --policy medium -- \
	sh -c 'if rm two/a || rm two/b || mkdir two/a; then exit 1; fi'

git config --unset core.hooksPath
mkdir away c2
git init -q away
echo "gitdir: ../away/.git" >c2/.git
expect 0 "$WARDFS" run --policy medium -- sh -c 'if echo x >>away/.git/config; then exit 1; fi'
