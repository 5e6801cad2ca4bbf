#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The search for repositories is bounded. It searches directories that tools fill last, keeps
# guarding what earlier starts found, and says when it stopped early.
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
# In memory: thousands of directories take a disk a minute.
mkdir "$WARD_TMP/m"
mount -t tmpfs tmpfs "$WARD_TMP/m"
cd "$WARD_TMP/m"
project q
cd q
mkdir -p src/a/b/c zz/a/b/c
git init -q --bare src/a/b/c/new.git
git init -q --bare zz/a/b/c/old.git
python3 - <<'P'
import os
for i in range(258):
    for j in range(256):
        os.makedirs(f"node_modules/{i}/{j}")
P
evil='for d in src/a/b/c/new.git zz/a/b/c/old.git; do echo evil >>$d/config; done; :'
expect 0 "$WARDFS" run -- sh -c "$evil"
has "$ERR" "ended early, before $PWD/node_modules/"
! grep -qs evil src/a/b/c/new.git/config zz/a/b/c/old.git/config || fail "what lies beside node_modules was written"
mv node_modules flood
rm -rf src
git init -q --bare flood/0/0/1/2/3/deep.git
expect 0 "$WARDFS" run -- sh -c 'for d in zz/a/b/c/old.git flood/0/0/1/2/3/deep.git; do echo evil >>$d/config; done; :'
has "$ERR" "ended early, before $PWD/flood/"
has "$ERR" "a bare repository that it did not reach is not guarded"
grep -qs evil flood/0/0/1/2/3/deep.git/config || fail "control: what no search has reached is guarded"
! grep -qs evil zz/a/b/c/old.git/config || fail "a known repository was pushed beyond the bound"
expect 0 "$WARDFS" policy check
has "$OUT" "warning: guards: the search for repositories in $PWD ended early, before $PWD/flood/"
