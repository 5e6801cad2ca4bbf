#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Modules that are expensive to translate, as root and as an ordinary user. The translator has
# limits, no network and no view of the project. wardfs names the exceeded limit and leaves
# nothing. The control is a plain module, before and after.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to act as another user"
[ -x "$WARD_BUILD/wardfs-wasi" ] || fail "wardfs-wasi was not built: no wabt?"
for kind in plain function functions blocks branches data whole; do
	python3 "$WARD_SRC/tests/cases/run/lib/wasm-translator.py" $kind "$WARD_TMP/$kind.wasm"
done
chmod 644 "$WARD_TMP"/*.wasm

cat >"$WARD_TMP/body.sh" <<'S'
set -eu
# Beneath /tmp, where a checkout may lie, a policy can list no program.
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
MODULES=$WARD_TMP
WARD_TMP=$HOME
project "$HOME/p"
cd "$HOME/p"
cp "$MODULES"/*.wasm .
policy() { # policy NAME LIMIT
	printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n[limits]\n' >"$HOME/$1"
	printf 'require = where-available\n%s\n' "$2" >>"$HOME/$1"
}
policy memory.policy 'memory = 96M'
policy cpu.policy 'cpu-time = 2s'

echo "--- the control"
expect 0 "$WARDFS" run --mode wasm plain.wasm
store=$(find "$HOME" "$MODULES" -type d -user "$(id -u)" -path '*wardfs/wasm' 2>/dev/null | head -n 1)
[ -n "$store" ] || fail "no objects are kept"
object=$(find "$store" -type f)
[ -f "$object" ] || fail "not one object: $object"
nothing_left() {
	[ "$(find "$store" -type f)" = "$object" ] || fail "$1 left $(ls -A "$store")"
}
limited() { # limited LIMIT MODULE [OPTION...]
	limit=$1 m=$2
	shift 2
	expect 2 "$WARDFS" run "$@" --mode wasm "$m.wasm"
	has "$ERR" "translating $m.wasm reaches a limit: $limit"
	nothing_left "$m"
}

echo "--- what the translator is given, and its end"
(
	ulimit -s unlimited 2>/dev/null || :
	exec "$WARDFS" run --mode wasm function.wasm >../said 2>&1
) &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
python3 "$WARD_SRC/tests/cases/run/lib/wasm-translator-look.py" $run "$PWD" >../tools ||
	fail "no translator as it should be: $(cat ../said)"
kill -TERM $run
wait $run || :
trap - EXIT
while read -r pid; do
	wait_until 60 gone "$pid" || fail "the translator $pid goes on after its run"
done <../tools
nothing_left "an ended run"

echo "--- limits by name"
limited "the stack (8 MiB)" blocks
for m in function branches data whole; do
	limited memory "$m" --policy "$HOME/memory.policy"
done
if [ "$(id -u)" -ne 0 ]; then
	limited "the CPU time" functions --policy "$HOME/cpu.policy"
fi

echo "--- the control again, translated anew"
rm -f "$object"
expect 0 "$WARDFS" run --mode wasm plain.wasm
[ -f "$object" ] || fail "a plain module is not translated any more"
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
