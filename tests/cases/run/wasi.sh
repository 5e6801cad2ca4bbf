#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode wasm with a WASI program, as root and as an ordinary user: what it gets, attempts to get
# more, and modules that wardfs refuses before they start. Each attempt has its control.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to act as another user"
[ -x "$WARD_BUILD/wardfs-wasi" ] || fail "wardfs-wasi was not built: no wabt?"

clang --target=wasm32-wasi --sysroot=/usr -O1 "$WARD_SRC/tests/cases/run/lib/wasi-try.c" -o "$WARD_TMP/try.wasm"
clang --target=wasm32-wasi --sysroot=/usr -O1 -mexec-model=reactor -Wl,--no-entry -x c - -o "$WARD_TMP/react.wasm" <<'C'
#include <stdio.h>
__attribute__((constructor)) static void begin(void) { puts("initialized"); fflush(stdout); }
C

cat >"$WARD_TMP/body.sh" <<'S'
set -eu
# Beneath /tmp, where a checkout may lie, a policy can list no program.
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
MODULES=$WARD_TMP
WARD_TMP=$HOME
project "$HOME/p"
cd "$HOME/p"
cp "$MODULES/try.wasm" "$MODULES/react.wasm" .
echo TOKEN=s3cret >.env
echo kept >kept.txt
ln -s .env plain.txt
ln -s kept.txt inside.txt
ln -s /etc/hostname absolute.txt
ln -s ../../../../../../etc/hostname upwards.txt

# The controls: the walls alone let all of these by, but for the guarded file.
expect 0 "$WARDFS" run -- sh -c 'cat kept.txt inside.txt absolute.txt /etc/hostname; ! cat plain.txt'
[ "$OUT" = "kept
kept
wardfs
wardfs" ] || fail "the controls: $OUT"

FOO=1 expect 7 "$WARDFS" run -s program --mode wasm try.wasm read kept.txt read inside.txt read "$PWD/kept.txt" \
	read /workspace/kept.txt read .env read plain.txt read absolute.txt read upwards.txt read "$PWD/../../etc/hostname" \
	read ../../../../../etc/hostname write new.txt write .git/config tree some env HOME env FOO clock 5 \
	raw kept.txt raw ../p/kept.txt raw /etc/hostname raw absolute.txt edges kept.txt
for line in "read kept.txt: kept" "read inside.txt: kept" "read $PWD/kept.txt: kept" "read /workspace/kept.txt: kept" \
	"read .env: No such file" "read plain.txt: No such file" "read absolute.txt: Permission denied" \
	"read upwards.txt: Permission denied" "read $PWD/../../etc/hostname: Permission denied" \
	"read ../../../../../etc/hostname: Permission denied" "write new.txt: written" "write .git/config: Permission denied" \
	"tree some: 4 entries, size 3" "env FOO: -" "clock 5: waited" "raw kept.txt: opened" "raw ../p/kept.txt: Permission denied" \
	"raw /etc/hostname: Permission denied" "raw absolute.txt: Permission denied" "edges kept.txt: 0 76 21 8 8"; do
	has "$OUT" "$line"
done
hasnt "$OUT" s3cret
[ "$(head -c 1 new.txt)" = x ] || fail "the program wrote no file"
expect 0 "$WARDFS" audit verify program
expect 0 "$WARDFS" audit denials --expected program
has "$OUT" .env
expect 0 "$WARDFS" audit show -v program
has "$OUT" '"mode":"wasm"'
expect 0 "$WARDFS" run --mode wasm react.wasm
[ "$OUT" = initialized ] || fail "a reactor: $OUT"

# An error inside ends the program, and the message says why.
expect 134 "$WARDFS" run --mode wasm try.wasm outside 0xfffffff0
has "$ERR" "Out-of-bounds"
expect 134 "$WARDFS" run --mode wasm try.wasm call 0x7fffffff
has "$ERR" "stopped: Invalid call_indirect"
expect 134 "$WARDFS" run --mode wasm try.wasm deep x
has "$ERR" "stopped:"
# Where RLIMIT_DATA holds the limit, a sanitizer's own memory does not fit.
memory='memory = 96M'
[ "$(id -u)" -eq 0 ] || ! grep -qE '__[at]san_init' "$WARD_BUILD/wardfs-wasi" || memory=
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nrequire = where-available\n%s\n' "$memory" >"$HOME/small.policy"
printf '[process]\nseccomp = no-exec\n' >>"$HOME/small.policy"
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\nwall = 1s\n' >"$HOME/clock.policy"
if [ -n "$memory" ]; then
	expect 7 "$WARDFS" run --policy "$HOME/small.policy" try.wasm grow 20 grow 1000
	has "$OUT" "grow 20: all"
	has "$OUT" "grow 1000: no memory left"
fi
expect 124 "$WARDFS" run --policy "$HOME/clock.policy" try.wasm loop x

# A link that leads in and out by turns, while the program reads it: never what is outside.
echo inside >race.txt
ln -s race.txt turn
(while [ -e race.txt ]; do ln -sfn /etc/hostname turn; ln -sfn race.txt turn; done) &
turning=$!
expect 7 "$WARDFS" run --mode wasm try.wasm race turn
rm race.txt
wait $turning
has "$OUT" "race turn: both"

# Refused before the start, by name.
module() { # module NAME WAT
	printf '%s\n' "$2" >"$1.wat"
	wat2wasm --enable-all "$1.wat" -o "$1.wasm"
}
refuses() { # refuses TEXT NAME
	expect 2 "$WARDFS" run -s refused --mode wasm "$2"
	has "$ERR" "$1"
	refused "" "$WARDFS" audit show refused
}
M='(memory (export "memory") 1) (func (export "_start"))'
module env "(module (import \"env\" \"system\" (func (param i32))) $M)"
refuses "imports the function env.system" env.wasm
module sock "(module (import \"wasi_snapshot_preview1\" \"sock_send\" (func (param i32))) $M)"
refuses "imports the function wasi_snapshot_preview1.sock_send" sock.wasm
module mem '(module (import "env" "memory" (memory 1)) (func (export "_start")))'
refuses "imports the memory env.memory" mem.wasm
module table "(module (table 4000000000 funcref) $M)"
refuses "larger tables" table.wasm
module none '(module (memory (export "memory") 1))'
refuses "exports no _start" none.wasm
printf 'text\n' >text.wasm
refuses "no WebAssembly" text.wasm
head -c 2000 try.wasm >cut.wasm
refuses "malformed" cut.wasm
refuses "missing.wasm: No such file" missing.wasm
mkfifo pipe.wasm
refuses "pipe.wasm" pipe.wasm
# wasm2c finds, in its sandbox, errors that our own look does not find.
module odd "(module (func (export \"_start\") (drop (i32.const 77))) (memory (export \"memory\") 1))"
python3 -c 'import sys; d = open("odd.wasm", "rb").read(); open("odd.wasm", "wb").write(d.replace(b"\x41\xcd\x00\x1a", b"\x1a\x1a\x1a\x1a"))'
expect 2 "$WARDFS" run -s odd --mode wasm odd.wasm
has "$ERR" "wasm2c and gcc refuse odd.wasm: m.wasm:"
expect 0 "$WARDFS" audit show odd
has "$OUT" "nothing was started"

# Malformed modules, through load and start: each is refused, or runs and ends as a program does. 1:
# it changed what it compares its own results with.
if [ "$(id -u)" -eq 0 ]; then
	for m in program reactor imports cut; do
		m=$WARD_SRC/tests/fuzz/corpus/wasm_module/$m
		cp "$m" corpus.wasm
		got=0
		"$WARDFS" run --mode wasm corpus.wasm >out 2>err || got=$?
		[ $got -eq 2 ] || fail "$m: exit $got: $(cat err)"
		grep -q '^wardfs: mode wasm: ' err || fail "$m: $(cat err)"
	done
	python3 "$WARD_SRC/tests/cases/run/lib/wasm-mutants.py" try.wasm mutant 2
	for i in 0 1; do
		got=0
		"$WARDFS" run --policy "$HOME/clock.policy" -s mutant-$i mutant-$i.wasm read kept.txt >out 2>err || got=$?
		case $got in
		2) grep -q '^wardfs: mode wasm: ' err || fail "mutant $i: $(cat err)" ;;
		1 | 7 | 124 | 134) expect 0 "$WARDFS" audit verify mutant-$i ;;
		*) fail "mutant $i: exit $got: $(cat err)" ;;
		esac
	done
fi

# Another module, or a script, needs a session of its own.
"$WARDFS" run --mode wasm -s loops try.wasm write here loop x >../said 2>&1 &
session=$!
wait_until 60 [ -s here ] || fail "no session: $(cat ../said)"
expect 7 "$WARDFS" exec loops try.wasm read kept.txt
has "$OUT" "read kept.txt: kept"
expect 2 "$WARDFS" exec loops react.wasm
has "$ERR" "needs a session of its own"
kill -TERM $session
wait $session || true
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
