#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# WASI programs on the host's runtimes: which one wardfs takes, and with which arguments. The
# runtimes are stand-ins that print their arguments, because Debian has none. Without wasm2c,
# Node's WASI runs the module. Some versions of it follow links out of a directory, and the walls
# stop them.
# timeout: 300
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
export HOME
mkdir -p $HOME/.local/bin /srv/tools
cd /srv
project p
cd p
# Copies what a file has to standard output; the name is in its memory.
module() { # NAME FILE
	cat >m.wat <<W
(module
 (import "wasi_snapshot_preview1" "path_open" (func \$open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "fd_read" (func \$read (param i32 i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "fd_write" (func \$write (param i32 i32 i32 i32) (result i32)))
 (import "wasi_snapshot_preview1" "proc_exit" (func \$exit (param i32)))
 (memory (export "memory") 1)
 (data (i32.const 64) "$2")
 (func (export "_start") (local \$fd i32) (local \$e i32)
  (local.set \$fd (i32.const 3))
  (loop \$next
   (local.set \$e (call \$open (local.get \$fd) (i32.const 1) (i32.const 64) (i32.const ${#2}) (i32.const 0)
    (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 0)))
   (if (local.get \$e) (then
    (local.set \$fd (i32.add (local.get \$fd) (i32.const 1)))
    (br_if \$next (i32.lt_u (local.get \$fd) (i32.const 12)))
    (call \$exit (local.get \$e)))))
  (i32.store (i32.const 8) (i32.const 1024)) (i32.store (i32.const 12) (i32.const 256))
  (if (call \$read (i32.load (i32.const 0)) (i32.const 8) (i32.const 1) (i32.const 4)) (then (call \$exit (i32.const 99))))
  (i32.store (i32.const 12) (i32.load (i32.const 4)))
  (drop (call \$write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 4)))))
W
	wat2wasm m.wat -o "$1"
}
echo kept >kept.txt
echo TOKEN=s3cret >.env
ln -s /etc/hostname absolute
ln -s /srv/secret outside
echo s3cret >/srv/secret
module kept.wasm kept.txt
module hidden.wasm .env
module absolute.wasm absolute
module outside.wasm outside
echo '(module (memory (export "memory") 1) (func (export "_initialize")))' >r.wat
wat2wasm r.wat -o reactor.wasm
echo '(module (import "env" "system" (func (param i32))) (memory (export "memory") 1) (func (export "_start")))' >s.wat
wat2wasm s.wat -o system.wasm

echo "--- the control: wasm2c, which holds a module beneath the trees"
expect 0 "$WARDFS" run --mode wasm kept.wasm
[ "$OUT" = kept ] || fail "wasm2c: $OUT"
expect 0 "$WARDFS" run --mode wasm reactor.wasm
for m in hidden absolute outside; do
	rc=0
	"$WARDFS" run --mode wasm $m.wasm >out 2>err || rc=$?
	[ $rc -ne 0 ] && [ ! -s out ] || fail "$m: $rc $(cat out)"
done

echo "--- the order, and what each is told"
for name in wasmtime wasmer iwasm; do cp /bin/echo $HOME/.local/bin/$name; done
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nrequire = where-available\nmemory = 400M\n[env]\nset = FOO=b c\n' >../policy
run() { expect 0 "$WARDFS" run --policy ../policy "$@"; }
run -s first kept.wasm one "t w o"
has "$OUT" "run --dir"
has "$OUT" " --dir /workspace::/workspace --dir $PWD::$PWD "
has "$OUT" " --dir /tmp::/tmp "
has "$OUT" " --dir .::. "
has "$OUT" " --env FOO=b c "
has "$OUT" "-Wmax-memory-size=314572800 kept.wasm one t w o"
expect 0 "$WARDFS" audit show -v first
has "$OUT" '"about":"wasmtime"'
has "$OUT" '"confines":true'
run --dry-run kept.wasm
has "$OUT" wasmtime
rm $HOME/.local/bin/wasmtime
run kept.wasm one
has "$OUT" "run --dir"
has "$OUT" " --dir /workspace --dir $PWD "
has "$OUT" " --env FOO=b c "
has "$OUT" "kept.wasm one"
rm $HOME/.local/bin/wasmer
run kept.wasm one
has "$OUT" "--dir=/workspace --dir=$PWD "
has "$OUT" "--env=FOO=b c "
has "$OUT" "kept.wasm one"
echo "--- a reactor is not theirs; nor is a module that asks for more, or a program of the project"
run reactor.wasm
[ -z "$OUT" ] || fail "a reactor: $OUT"
expect 2 "$WARDFS" run --policy ../policy system.wasm
has "$ERR" system
mkdir bin
mv $HOME/.local/bin/iwasm bin/wasmtime
PATH=$PWD/bin:$PATH run kept.wasm
[ "$OUT" = kept ] || fail "a wasmtime of the project: $OUT"

echo "--- without wasm2c: Node's WASI, said and recorded"
mkdir /srv/over /srv/work
mount -t tmpfs tmpfs /srv/over
mkdir /srv/over/up /srv/over/work
mount -t overlay overlay -o lowerdir=/usr/bin,upperdir=/srv/over/up,workdir=/srv/over/work /usr/bin
rm /usr/bin/wasm2c
rm -rf "$HOME"/.local/state/wardfs/wasm
expect 0 "$WARDFS" run --mode wasm -s node kept.wasm
[ "$OUT" = kept ] || fail "Node: $OUT"
has "$ERR" "confines nothing by itself"
expect 0 "$WARDFS" audit show -v node
has "$OUT" 'WASI of Node'
has "$OUT" '"confines":false'
# Whether it follows a link depends on its version: to the sandbox' own file, never to the host's.
"$WARDFS" run --mode wasm absolute.wasm >out 2>err || :
[ ! -s out ] || [ "$(cat out)" = wardfs ] || fail "an absolute link: $(cat out)"
for m in hidden outside; do
	rc=0
	"$WARDFS" run --mode wasm $m.wasm >out 2>err || rc=$?
	[ $rc -ne 0 ] && ! grep -q s3cret out || fail "$m: $rc $(cat out)"
done
echo '(module (memory (export "memory") 1) (func (export "_start") unreachable))' >t.wat
wat2wasm t.wat -o trap.wasm
expect 134 "$WARDFS" run --mode wasm trap.wasm
expect 2 "$WARDFS" run --mode wasm system.wasm
