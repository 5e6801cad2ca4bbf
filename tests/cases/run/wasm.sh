#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode wasm with JavaScript, as root and as an ordinary user: what a script gets, and attempts to
# get more. Each attempt has its control.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to act as another user"
[ -x "$WARD_BUILD/wardfs-quickjs" ] ||
	fail "wardfs-quickjs was not built: $(cat "$WARD_SRC/build-quickjs/missing" 2>/dev/null || echo 'no wabt?')"

cat >"$WARD_TMP/body.sh" <<'S'
set -eu
# Beneath /tmp, where a checkout may lie, a policy can list no program.
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project "$HOME/p"
cd "$HOME/p"
echo TOKEN=s3cret >.env
echo kept >kept.txt
ln -s .env plain.txt
ln -s kept.txt inside.txt
ln -s /etc/hostname absolute.txt
ln -s ../../../../../../etc/hostname upwards.txt
cp "$WARD_SRC/tests/cases/run/lib/wasm-try.js" try.js

# The controls: the walls alone let all of these by, but for the guarded file.
expect 0 "$WARDFS" run -- sh -c 'cat kept.txt inside.txt absolute.txt /etc/hostname; ! cat plain.txt'
[ "$OUT" = "kept
kept
wardfs
wardfs" ] || fail "the controls: $OUT"

expect 0 "$WARDFS" run -s script --mode wasm try.js "read kept.txt" "read inside.txt" "read $PWD/kept.txt" \
	"read /workspace/kept.txt" "read .env" "read plain.txt" "read absolute.txt" "read upwards.txt" "read /etc/hostname" \
	"read ../../../../../etc/hostname" "read /proc/self/environ" "read /dev/null" "write new.txt" "write .git/config" \
	"write /etc/x" "link /etc/hostname" "rename ../x" "polluted /etc/hostname" "host /etc/hostname" "deep" "need net" "need ./try.js"
for line in "read kept.txt: kept" "read inside.txt: kept" "read $PWD/kept.txt: kept" "read /workspace/kept.txt: kept" \
	"read .env: ENOENT" "read plain.txt: ENOENT" "read absolute.txt: EACCES" "read upwards.txt: EACCES" \
	"read /etc/hostname: EACCES" "read ../../../../../etc/hostname: EACCES" "read /proc/self/environ: EACCES" \
	"read /dev/null: EACCES" "write new.txt: written" "write .git/config: EACCES" "write /etc/x: EACCES" \
	"link /etc/hostname: EACCES" "rename ../x: EACCES" "polluted /etc/hostname: EACCES and /etc/hostname" \
	"host /etc/hostname: -13 -13 -9 -22" "deep: RangeError" "need net: MODULE_NOT_FOUND" "need ./try.js: found"; do
	has "$OUT" "$line"
done
[ "$(cat new.txt)" = x ] || fail "the script wrote no file"
hasnt "$OUT" s3cret
expect 0 "$WARDFS" audit verify script
expect 0 "$WARDFS" audit denials --expected script
has "$OUT" .env
expect 0 "$WARDFS" audit show -v script
has "$OUT" '"mode":"wasm"'
has "$OUT" '"seccomp":"strict"'

# Without bounds for lookups nothing runs: the kernel answers openat2(2) as one that has none.
expect 1 "$WARD_BUILD/tests/support/knockout" openat2=ENOSYS -- "$WARD_BUILD/wardfs-quickjs" --tree "$PWD" try.js
has "$ERR" "options: Function not"
expect 0 "$WARD_BUILD/wardfs-quickjs" --tree "$PWD" try.js "read kept.txt"
has "$OUT" "read kept.txt: kept"

# As node does it: standard input, arguments, modules, what is thrown, the exit status.
printf '%s\n' "import { readFileSync as r } from 'node:fs';" "import { two } from './lib.mjs';" \
	"console.log(r(0, 'utf8').trim(), await two, process.argv.slice(2), { a: [1, 'b'] });" \
	"setTimeout(() => process.exit(7), 1);" >main.mjs
printf '%s\n' 'export const two = Promise.resolve(2);' >lib.mjs
echo piped >../in
expect 7 "$WARDFS" run --mode wasm main.mjs one "t w o" <../in
[ "$OUT" = "piped 2 [ 'one', 't w o' ] { a: [ 1, 'b' ] }" ] || fail "a module: $OUT"
echo 'console.log("from", "stdin")' >../in
expect 0 "$WARDFS" run --mode wasm - <../in
[ "$OUT" = "from stdin" ] || fail "standard input: $OUT"
expect 0 "$WARDFS" run --mode wasm -- -e 'console.log(6 * 7, typeof fetch, typeof WebAssembly)'
[ "$OUT" = "42 undefined undefined" ] || fail "-e: $OUT"
expect 1 "$WARDFS" run --mode wasm -- -e 'throw new TypeError("no")'
has "$ERR" "Uncaught TypeError: no"
expect 1 "$WARDFS" run --mode wasm -- -e 'Promise.reject(new Error("later"))'
has "$ERR" "Uncaught Error: later"
echo 'await new Promise(() => {})' >never.mjs
expect 13 "$WARDFS" run --mode wasm never.mjs

# Memory, and what does not end. The controls: the same within the limit.
# Where RLIMIT_DATA holds the limit, a sanitizer's own memory does not fit.
memory='memory = 96M'
[ "$(id -u)" -eq 0 ] || ! grep -qE '__[at]san_init' "$WARD_BUILD/wardfs-quickjs" || memory=
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nrequire = where-available\n%s\n' "$memory" >"$HOME/small.policy"
printf '[process]\nseccomp = no-exec\n' >>"$HOME/small.policy"
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nwall = 1s\n' >"$HOME/clock.policy"
grow='const a = []; for (let i = 0; i < N; i++) a.push(new Uint8Array(1e6).fill(1)); console.log(a.length)'
if [ -n "$memory" ]; then
	expect 0 "$WARDFS" run --policy "$HOME/small.policy" -- -e "const N = 20; $grow"
	[ "$OUT" = 20 ] || fail "within the limit: $OUT"
	expect 1 "$WARDFS" run --policy "$HOME/small.policy" -- -e "const N = 1000; $grow"
	has "$ERR" "out of memory"
fi
expect 124 "$WARDFS" run --policy "$HOME/clock.policy" -- -e 'for (;;);'
expect 124 "$WARDFS" run --policy "$HOME/clock.policy" -- -e '/^(a+)+$/.exec("a".repeat(40) + "b")'

# A link that leads in and out by turns, while the script reads it: never what is outside.
echo inside >race.txt
ln -s race.txt turn
(while [ -e race.txt ]; do ln -sfn /etc/hostname turn; ln -sfn race.txt turn; done) &
turning=$!
expect 0 "$WARDFS" run --mode wasm try.js "race turn"
rm race.txt
wait $turning
has "$OUT" "race turn: both"
hasnt "$OUT" wardfs

# In a running session; what the mode does not run.
echo 'require("fs").writeFileSync("here", "x"); setInterval(() => {}, 1000)' >stay.js
"$WARDFS" run --mode wasm -s stays stay.js >../said 2>&1 &
session=$!
wait_until 60 [ -e here ] || fail "no session: $(cat ../said)"
expect 0 "$WARDFS" exec stays try.js "read kept.txt" "read /etc/hostname"
has "$OUT" "read kept.txt: kept"
has "$OUT" "read /etc/hostname: EACCES"
expect 2 "$WARDFS" exec stays cat /etc/hostname
has "$ERR" "mode wasm runs JavaScript"
kill -TERM $session
wait $session || true
for wrong in "cat try.js" "--memory=1 try.js"; do
	# shellcheck disable=SC2086
	expect 2 "$WARDFS" run --mode wasm -- $wrong
done
expect 0 "$WARDFS" run --policy "$HOME/small.policy" --dry-run --json try.js
for part in '"--tree"' '"/workspace"' 'wardfs-quickjs' ${memory:+'"100663296"'}; do
	has "$OUT" "$part"
done
expect 0 "$WARDFS" run --policy "$HOME/small.policy" --dry-run try.js
for line in "reaches
  /workspace  (a tree of the policy)
  $PWD  (a tree of the policy)
  /tmp  (/tmp of the session)
  /agent-home  (the session's home)
memory       " ${memory:+"memory       72M (three quarters of [limits] memory)"}; do
	has "$OUT" "$line"
done
hasnt "$OUT" "--tree"
expect 0 "$WARDFS" run --policy "$HOME/small.policy" --dry-run -v try.js
has "$OUT" "  --tree  (a tree of the policy)"
S

mkdir -p "$WARD_TMP/root"
chmod 755 "$WARD_TMP"
export BODY="$WARD_TMP/body.sh"
cat >"$WARD_TMP/run.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mount --bind "$WARD_BUILD" /mnt
(HOME=$WARD_TMP/root sh "$BODY")
as_user "$BODY"
S
unshare -m sh "$WARD_TMP/run.sh"
