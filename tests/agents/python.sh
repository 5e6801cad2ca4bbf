#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode wasm runs Python with npm's pyodide, as root and as an ordinary user: files, arguments,
# exit status. Pyodide is no wall of its own, so the attempts use Node directly and meet the walls
# of the mode. Each attempt has its control.
# timeout: 1800
# plain
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
. "$WARD_SRC/tests/agents/lib/agents.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to act as another user"
[ ! -s "$WARD_AGENTS/pyodide/missing" ] || fail "$(cat "$WARD_AGENTS/pyodide/missing")"

cat >"$WARD_TMP/body.sh" <<'S'
set -eu
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
PATH=/srv/npm/bin:$PATH
project "$HOME/p"
cd "$HOME/p"
echo TOKEN=s3cret >.env
echo kept >kept.txt
ln -s kept.txt inside.txt
cp "$WARD_SRC/tests/agents/lib/python-try.py" try.py

echo "--- as python does it"
printf '%s\n' 'import sys, os, helper' 'print(sys.argv[1:], sys.stdin.read().strip(), helper.two, os.getcwd())' \
	'sys.stderr.write("err\n")' 'sys.exit(7)' >main.py
echo 'two = 2' >helper.py
echo piped >../in
expect 7 "$WARDFS" run --mode wasm -s plain main.py one "t w o" <../in
[ "$OUT" = "['one', 't w o'] piped 2 $PWD" ] || fail "a script: $OUT"
has "$ERR" err
has "$ERR" "confines nothing by itself"
expect 0 "$WARDFS" audit show -v plain
has "$OUT" '"about":"Python in WebAssembly (pyodide 314.'
has "$OUT" '"confines":false'
has "$OUT" '"seccomp":"strict"'
echo 'raise ValueError("no")' >raise.py
expect 1 "$WARDFS" run --mode wasm raise.py
has "$ERR" "ValueError: no"
has "$ERR" 'File "raise.py", line 1'
expect 2 "$WARDFS" run --mode wasm absent.py
has "$ERR" "can't open file 'absent.py'"
printf '%s\n' 'import asyncio' 'async def main():' '    await asyncio.sleep(0.01)' '    print("later")' 'asyncio.ensure_future(main())' >later.py
expect 0 "$WARDFS" run --mode wasm later.py
[ "$OUT" = later ] || fail "asyncio: $OUT"

echo "--- files have the mode that the umask leaves, and a rename that fails loses nothing"
(umask 077 && expect 0 "$WARDFS" run --mode wasm try.py "write new.txt" "rename new.txt moved.txt" "mkdir d" && has "$OUT" "write new.txt: written")
[ "$(stat -c %a moved.txt d)" = "600
700" ] || fail "modes: $(stat -c '%a %n' moved.txt d)"
(umask 022 && expect 0 "$WARDFS" run --mode wasm try.py "write new.txt" "rename new.txt kept2.txt" "write new.txt")
[ "$(stat -c %a new.txt)" = 644 ] || fail "modes: $(stat -c '%a %n' new.txt)"
expect 0 "$WARDFS" run --mode wasm try.py "rename new.txt .git/config"
has "$OUT" "rename new.txt .git/config: PermissionError"
[ -s .git/config ] && [ -e new.txt ] || fail "a refused rename lost a file"

echo "--- the controls: where the policy gives it, Node does it"
node=$(readlink -f "$(command -v node)")
cat >node.mjs <<'J'
import fs from "node:fs";
import { spawnSync } from "node:child_process";
const ran = spawnSync("/bin/cat", ["/etc/hostname"]);
console.log(fs.readFileSync("/etc/hostname", "utf8").trim(), String(ran.error ?? ran.stdout).trim());
J
expect 0 "$WARDFS" run --read "$node" -- "$node" node.mjs
[ "$OUT" = "wardfs wardfs" ] || fail "the control: $OUT"

echo "--- what a script reaches"
expect 0 "$WARDFS" run --mode wasm -s tries try.py "read kept.txt" "read inside.txt" "read /workspace/kept.txt" "read .env" \
	"read /etc/hostname" "read ../../../../../etc/hostname" "write .git/config" "node-read .env" "node-read $HOME/.profile" \
	"node-write .git/config" "node-run /bin/cat" "node-run $node" "constructor .env" "process" "socket 1.1.1.1" "deep"
for line in "read kept.txt: kept" "read inside.txt: kept" "read /workspace/kept.txt: kept" "read .env: FileNotFoundError" \
	"read /etc/hostname: FileNotFoundError" "read ../../../../../etc/hostname: FileNotFoundError" \
	"write .git/config: PermissionError" "node-read .env: ENOENT" "node-read $HOME/.profile: ENOENT" \
	"node-write .git/config: EACCES" "node-run /bin/cat: EACCES" "node-run $node: ran" "constructor .env: ENOENT" \
	"process: OSError" "socket 1.1.1.1: OSError" "deep: RecursionError"; do
	has "$OUT" "$line"
done
hasnt "$OUT" s3cret
expect 0 "$WARDFS" audit verify tries
expect 0 "$WARDFS" audit denials tries
has "$OUT" /bin/cat
has "$OUT" .git/config

echo "--- endless loops, variables of Node, other commands of the session"
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nwall = 20s\n' >"$HOME/clock.policy"
printf '%s\n' 'import sys' 'a = [b"x" * 1000000 + bytes([i % 256]) for i in range(int(sys.argv[1]))]' 'print(len(a))' >grow.py
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nrequire = where-available\nmemory = 700M\n' >"$HOME/small.policy"
expect 0 "$WARDFS" run --policy "$HOME/small.policy" grow.py 50
[ "$OUT" = 50 ] || fail "within the limit: $OUT"
rc=0
"$WARDFS" run --policy "$HOME/small.policy" grow.py 1500 >out 2>err || rc=$?
[ $rc -ne 0 ] && ! grep -q '^1500' out || fail "1.5 GB within 700 MB: $rc $(cat out err)"
echo 'while True: pass' >loop.py
expect 124 "$WARDFS" run --policy "$HOME/clock.policy" loop.py
echo 'console.log("preloaded")' >preload.js
NODE_OPTIONS="--require $PWD/preload.js" expect 0 "$WARDFS" run --env NODE_OPTIONS --mode wasm later.py
[ "$OUT" = later ] || fail "NODE_OPTIONS: $OUT"

echo "--- the snapshot is made once, and again where it is gone"
store=$(find "$HOME" "${XDG_STATE_HOME:-$HOME}" -type d -path '*wardfs/wasm' | head -n 1)
[ "$(find "$store" -type f | wc -l)" = 1 ] || fail "snapshots: $(ls -l "$store")"
rm -f "$store"/*
expect 0 "$WARDFS" run --mode wasm later.py
[ "$(find "$store" -type f | wc -l)" = 1 ] || fail "no snapshot: $(ls -l "$store")"

echo "--- a package of the project, for which no snapshot is made; none; an older one"
mkdir node_modules
cp -r /srv/npm/lib/node_modules/pyodide node_modules/
PATH=/usr/local/bin:/usr/bin:/bin
expect 0 "$WARDFS" run --mode wasm later.py
[ "$OUT" = later ] || fail "a package of the project: $OUT"
sed -i 's/"version": "314[^"]*"/"version": "0.29.1"/' node_modules/pyodide/package.json
expect 125 "$WARDFS" run --mode wasm later.py
has "$ERR" "is pyodide 0.29.1, and Python needs 314 or newer; fix: npm install -g pyodide"
rm -r node_modules
expect 125 "$WARDFS" run --mode wasm later.py
has "$ERR" "npm install -g pyodide"
S

mkdir -p "$WARD_TMP/root"
export BODY="$WARD_TMP/body.sh"
cat >"$WARD_TMP/run.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mount --bind "$WARD_BUILD" /mnt
# What a session has of /tmp and /var/tmp is empty, so nothing can be shown from there.
mount -t tmpfs tmpfs /srv
mkdir -p /srv/npm/bin /srv/npm/lib/node_modules
mount --bind "$WARD_AGENTS/pyodide/node_modules" /srv/npm/lib/node_modules
(HOME=$WARD_TMP/root sh "$BODY")
cp "$BODY" "$WARD_TMP/as-user.sh"
as_user "$WARD_TMP/as-user.sh"
# Without Node, Deno.
mkdir /srv/deno "$WARD_TMP/deno"
mount --bind "$WARD_AGENTS/deno" /srv/deno
mount --bind /etc/hostname "$(readlink -f "$(command -v node)")"
PATH=/srv/npm/bin:/srv/deno/node_modules/.bin:/usr/bin:/bin
HOME=$WARD_TMP/deno
project "$HOME/p"
cd "$HOME/p"
printf '%s\n' 'import os, sys' 'open("made", "w").write(sys.stdin.read())' 'print(sys.argv[1:])' 'sys.exit(7)' >a.py
echo piped >../in
expect 7 /mnt/wardfs run --mode wasm -s deno a.py one <../in
[ "$OUT" = "['one']" ] && [ "$(cat made)" = piped ] || fail "in Deno: $OUT$ERR"
has "$(/mnt/wardfs audit show -v deno)" ') in Deno"'
S
with_agents "$WARD_TMP/run.sh"
