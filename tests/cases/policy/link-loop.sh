#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session leaves a symbolic link to itself as .git, or where a configuration names it. Later
# starts succeed, because git cannot follow it either. The links are guarded, so no later session
# replaces them. The controls: a .git file that leads somewhere is followed, and the host can
# remove the link.
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
