#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: a session makes node_modules/pyodide a link to a host directory, such as a guarded
# project, so that the next Python session of mode wasm sees all of it. The control: the owner's
# own link works. The package is a stand-in, and --dry-run tells what a run would show.
set -eu
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
# Beneath /tmp, where a checkout may lie, a policy can list no program.
mount --bind "$WARD_BUILD" /mnt
mount -t tmpfs tmpfs /srv
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
command -v node >/dev/null || skip "needs node"
HOME=/srv/home
PATH=/usr/bin:/bin
export HOME PATH
cd /srv
mkdir -p home/.npm-global/lib/node_modules
# package DIR: what wardfs takes for pyodide
package() {
	mkdir -p "$1"
	echo '{"name":"pyodide","version":"314.0.0"}' >"$1/package.json"
	for part in pyodide.mjs pyodide.asm.mjs pyodide.asm.wasm python_stdlib.zip pyodide-lock.json; do
		echo >"$1/$part"
	done
}
package other
echo s3cret >other/.env
project p
cd p
echo 'print(1)' >x.py
dry() { "$WARDFS" run --mode wasm --dry-run x.py; }
GLOBAL=$HOME/.npm-global/lib/node_modules/pyodide

# The control: the owner's own link.
ln -s /srv/other "$GLOBAL"
expect 0 dry
has "$OUT" /srv/other
rm "$GLOBAL"

# The attack, by each name on the way.
mkdir node_modules
ln -s /srv/other node_modules/pyodide
expect 125 dry
has "$ERR" "/srv/p/node_modules/pyodide lies in the tree /workspace, within the agent's reach"
hasnt "$OUT" /srv/other
mkdir ../other/node_modules
package ../other/node_modules/pyodide
rm -r node_modules
ln -s /srv/other/node_modules node_modules
expect 125 dry
has "$ERR" "/srv/p/node_modules lies in the tree /workspace"
# By way of PATH, as npm sets it for the scripts of a package.
rm node_modules
mkdir -p tools/bin
ln -s /srv/other tools/pyodide
PATH=/srv/p/tools/bin:/usr/bin:/bin
expect 125 dry
has "$ERR" "/srv/p/tools/pyodide lies in the tree /workspace"
PATH=/usr/bin:/bin

# A package in the project itself is served by its tree, so the rules hold there.
package node_modules/pyodide
expect 0 dry
# And so it is by a link that stays in the project.
mv node_modules/pyodide kept
ln -s ../kept node_modules/pyodide
expect 0 dry
