#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# More attacks on mode wasm, as root and as an ordinary user: every function with an outside path,
# the engine's recursion and faults, host functions that a script could reach, and modules that
# leave their memory or want too much. wasm.sh and wasi.sh have the others. Each has its control.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to act as another user"
for helper in wardfs-quickjs wardfs-wasi; do
	[ -x "$WARD_BUILD/$helper" ] || fail "$helper was not built"
done
clang --target=wasm32-wasi --sysroot=/usr -O1 "$WARD_SRC/tests/cases/run/lib/wasi-attacks.c" -o "$WARD_TMP/paths.wasm"

cat >"$WARD_TMP/body.sh" <<'S'
set -eu
# Beneath /tmp, where a checkout may lie, a policy can list no program.
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
MODULES=$WARD_TMP
WARD_TMP=$HOME
project "$HOME/p"
cd "$HOME/p"
cp "$WARD_SRC/tests/cases/run/lib/wasm-attacks.js" attacks.js
cp "$MODULES/paths.wasm" .
again() { # a project with what the functions want
	rm -rf kept.txt moving linked renamed copied inside dir etc up
	echo "wardfs inside" >kept.txt
	echo moving >moving
	mkdir dir
	ln -s /etc etc
	ln -s ../../../../../../etc up
}
again
set -- /etc/hostname ../x up/hostname etc/hostname dir/../../x
# The controls: the walls alone open three of them.
expect 0 "$WARDFS" run -- cat "$1" "$3" "$4"

echo "--- every function with a path"
expect 0 "$WARDFS" run --mode wasm attacks.js paths "$@"
[ "$(printf '%s\n' "$OUT" | grep -c ': EACCES EACCES EACCES EACCES EACCES$')" -eq 22 ] || fail "script: $OUT"
[ "$(printf '%s\n' "$OUT" | wc -l)" -eq 22 ] || fail "script: $OUT"
[ "$(cat kept.txt)" = "wardfs inside" ] || fail "the script changed a file: $(cat kept.txt)"
expect 0 "$WARDFS" run --mode wasm attacks.js paths inside
hasnt "$OUT" EACCES
for line in "create: undefined" "copyTo: undefined" "unlink: undefined" "renameTo: undefined" "chmod: undefined"; do
	has "$OUT" "$line"
done
# 2: EACCES, 21: EFAULT, 28: EINVAL. WASI's link follows no link.
again
expect 0 "$WARDFS" run --mode wasm paths.wasm "$@"
[ "$(printf '%s\n' "$OUT" | grep -c ': 2 2 2 2 2$')" -eq 15 ] || fail "program: $OUT"
has "$OUT" "link followed: 28 28 28 28 28"
has "$OUT" "beneath: 2 2 "
has "$OUT" "wrapped: 21 21 21 21 21"
expect 0 "$WARDFS" run --mode wasm paths.wasm inside
for line in "create: 0" "stat: 0" "rename to: 0" "link from: 0" "symlink: 0" "mkdir: 0"; do
	has "$OUT" "$line"
done
again

echo "--- a directory on the way that leads in and out by turns"
echo inside >dir/hostname
ln -s dir turn
cp "$WARD_SRC/tests/cases/run/lib/wasm-try.js" try.js
(while [ -e dir/hostname ]; do ln -sfn /etc turn; ln -sfn dir turn; done) &
turning=$!
expect 0 "$WARDFS" run --mode wasm try.js "race turn/hostname"
rm dir/hostname
wait $turning
has "$OUT" "race turn/hostname: both"

echo "--- the engine: its own recursion, its buffers, what a script can get hold of"
expect 0 "$WARDFS" run --mode wasm attacks.js nested
[ "$(printf '%s\n' "$OUT" | grep -cE ': (RangeError|SyntaxError)$')" -eq 10 ] || fail "nested: $OUT"
has "$OUT" "the engine goes on: 1"
expect 0 "$WARDFS" run --mode wasm attacks.js buffers
for line in "beyond: undefined" "view: RangeError" "shrunk: undefined" "length: RangeError" "offset: RangeError" \
	"wrapped: RangeError" "written: 0" "detached: TypeError"; do
	has "$OUT" "$line"
done
expect 0 "$WARDFS" run --mode wasm attacks.js leaks "$1"
has "$OUT" "leaks: some reached, nothing told"
has "$OUT" "by constructors: 0"
expect 0 "$WARDFS" run --mode wasm attacks.js leaks kept.txt
has "$OUT" "leaks: some reached, some told"

echo "--- a fault of the engine stays in its memory"
got=0
"$WARDFS" run --mode wasm -s fault attacks.js overflow >out 2>err || got=$?
case $got in
134) grep -q "the engine stopped: Out-of-bounds" err || fail "overflow: $(cat err)" ;;
1) grep -qE "RangeError|out of memory" err || fail "overflow: $(cat err)" ;;
*) fail "overflow: exit $got: $(cat out err)" ;;
esac
expect 0 "$WARDFS" audit verify fault

echo "--- modules that leave their memory, their stack, their table"
module() { # module NAME WAT: what _start does; a memory of one page
	printf '(module (type $t (func (param i64))) (table 2 funcref) (elem (i32.const 0) $g) (func $g) (func $r (call $r) (call $r))
(memory (export "memory") 1) (func (export "_start") %s))\n' "$2" >"$1.wat"
	wat2wasm "$1.wat" -o "$1.wasm"
}
module store '(i32.store (i32.const 65535) (i32.const 1))'
module copy '(memory.copy (i32.const 65000) (i32.const 0) (i32.const 5000))'
module fill '(memory.fill (i32.const 0) (i32.const 0) (i32.const -1))'
module index '(call_indirect (type $t) (i64.const 0) (i32.const 2))'
module type '(call_indirect (type $t) (i64.const 0) (i32.const 0))'
module stack '(call $r)'
module within '(i32.store (i32.const 65532) (i32.const 1)) (memory.copy (i32.const 65000) (i32.const 0) (i32.const 500)) (call $g)'
for m in store copy fill index type stack; do
	expect 134 "$WARDFS" run --mode wasm $m.wasm
	has "$ERR" "$m.wasm stopped: "
done
expect 0 "$WARDFS" run --mode wasm within.wasm

echo "--- modules that want too much"
wants() { # wants TEXT FIELDS
	printf '(module %s (func (export "_start")))\n' "$2" >wants.wat
	wat2wasm --enable-all wants.wat -o wants.wasm
	expect 2 "$WARDFS" run --mode wasm wants.wasm
	has "$ERR" "$1"
}
wants "more memory than wardfs gives" '(memory (export "memory") 65536)'
wants "more memory than wardfs gives" '(memory (export "memory") 1) (memory 1)'
wants "shared or 64-bit memory" '(memory (export "memory") i64 1)'
wants "shared or 64-bit memory" '(memory (export "memory") 1 2 shared)'
wants "larger tables" "(memory (export \"memory\") 1)$(printf '(table 1 funcref)%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)"
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nwall = 1s\n' >"$HOME/clock.policy"
# A module's own start function runs before _start.
printf '(module (memory (export "memory") 1) (func $s (loop (br 0))) (start $s) (func (export "_start")))\n' >loop.wat
wat2wasm loop.wat -o loop.wasm
expect 124 "$WARDFS" run --policy "$HOME/clock.policy" loop.wasm

echo "--- a start function that grows what the session bounds, before anything else runs"
# Where RLIMIT_DATA holds the limit, a sanitizer's own memory does not fit.
memory='memory = 2G'
[ "$(id -u)" -eq 0 ] || ! grep -qE '__[at]san_init' "$WARD_BUILD/wardfs-wasi" || memory=
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nrequire = where-available\n%s\n' "$memory" >"$HOME/grow.policy"
grows() { # grows HOW-MANY EXPRESSION: the exit status says whether it grew
	printf '(module (import "wasi_snapshot_preview1" "proc_exit" (func $x (param i32))) (table $t 1 funcref) (global $g (mut i32) (i32.const 0))
(memory (export "memory") 1) (func $s (global.set $g (i32.ne (i32.const -1) %s))) (start $s)
(func (export "_start") (call $x (global.get $g))))\n' "$2" >grows.wat
	wat2wasm grows.wat -o grows.wasm
	expect "$1" "$WARDFS" run --policy "$HOME/grow.policy" grows.wasm
}
grows 0 '(table.grow $t (ref.null func) (i32.const 1048576))'
grows 1 '(table.grow $t (ref.null func) (i32.const 1000))'
grows 0 '(memory.grow (i32.const 65535))'
[ -z "$memory" ] || grows 0 '(memory.grow (i32.const 24576))'
grows 1 '(memory.grow (i32.const 20000))'

echo "--- a module that no session may read, or that a session's link names"
mkdir -p "$HOME/beside" private
for to in "$HOME/beside/m.wasm" private/m.wasm plain.wasm; do
	cp within.wasm "$to"
done
ln -sf "$HOME/beside/m.wasm" out.wasm
ln -sf private/m.wasm secret.wasm
ln -sf plain.wasm in.wasm
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[guard]\nsecret = /workspace/private\n' >"$HOME/private.policy"
for m in private/m.wasm secret.wasm; do
	expect 0 "$WARDFS" run --mode wasm "$m"
	expect 125 "$WARDFS" run --policy "$HOME/private.policy" "$m"
	has "$ERR" "the module $m: the policy lets no session read it ($HOME/private.policy:6), so none runs it"
	expect 125 "$WARDFS" run --dry-run --policy "$HOME/private.policy" "$m"
done
for m in in.wasm "$HOME/beside/m.wasm"; do
	expect 0 "$WARDFS" run --policy "$HOME/private.policy" "$m"
done
expect 125 "$WARDFS" run --policy "$HOME/private.policy" out.wasm
has "$ERR" "the module out.wasm leads out of the tree /workspace to $HOME/beside/m.wasm, by a link that a session can change"

for native in 'new Array(2**32-1).join("")' 'setInterval(() => {}, 0)' '(async () => { for (;;) await 1 })()'; do
	expect 124 "$WARDFS" run --policy "$HOME/clock.policy" -- -e "$native"
done
expect 0 "$WARDFS" run --policy "$HOME/clock.policy" -- -e 'new Array(1000).join("")'

echo "--- node's -e, where an option of wardfs was taken"
expect 2 "$WARDFS" run --mode wasm -e 'console.log(1)'
has "$ERR" "wardfs run --mode wasm -- -e"
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
