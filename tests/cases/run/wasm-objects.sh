#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The store of objects made from modules is bounded: a new object displaces those that were not
# used for long. The controls are recent objects, small ones, and a session whose object goes
# while it runs.
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
cd "$WARD_TMP"
project p
cd p
for name in one two three; do
	echo "(module (memory (export \"memory\") 1) (func (export \"_start\")) (data (i32.const 0) \"$name\"))" >$name.wat
	wat2wasm $name.wat -o $name.wasm
done
echo '(module (memory (export "memory") 1) (func (export "_start") (loop (br 0))))' >loop.wat
wat2wasm loop.wat -o loop.wasm

expect 0 "$WARDFS" run --mode wasm one.wasm
store=$(find "$WARD_TMP" "$HOME" -type d -path '*wardfs/wasm' | head -n 1)
[ -n "$store" ] || fail "no objects are kept"
object=$(find "$store" -type f)
touch -d '29 days ago' "$object"

echo "--- one that is used again counts as new"
expect 0 "$WARDFS" run --mode wasm one.wasm
[ -n "$(find "$store" -type f -mmin -60)" ] || fail "its use does not count"

echo "--- age and size"
for f in aged:31:1 young:29:1 first:3:600M second:2:300M; do
	days=${f#*:}
	truncate -s "${f##*:}" "$store/${f%%:*}"
	touch -d "${days%:*} days ago" "$store/${f%%:*}"
done
truncate -s 600M "$store/starting"
expect 0 "$WARDFS" run --mode wasm one.wasm
[ -e "$store/aged" ] || fail "nothing new came, and one is gone"
expect 0 "$WARDFS" run --mode wasm two.wasm
for f in aged young first; do
	[ ! -e "$store/$f" ] || fail "$f stays"
done
[ -e "$store/second" ] || fail "more goes than has to"
[ -e "$store/starting" ] || fail "one goes whose session may be starting"
[ -e "$object" ] || fail "one goes that was used just now"

echo "--- a session keeps what it uses"
"$WARDFS" run --session loops --mode wasm loop.wasm >loops 2>&1 &
session=$!
trap 'kill $session 2>/dev/null || :' EXIT
runs() { [ "$(status_of loops session)" = loops ]; }
wait_until 120 runs || fail "no session: $(cat loops)"
count() { find "$store" -type f | wc -l; }
four() { [ "$(count)" -ge 5 ]; }
wait_until 60 four || fail "no object of the loop"
for f in "$store"/*; do
	[ "$f" = "$object" ] || touch -d '31 days ago' "$f"
done
expect 0 "$WARDFS" run --mode wasm three.wasm
[ "$(count)" = 2 ] || fail "$(ls -l "$store")"
runs || fail "the session ended: $(cat loops)"
kill $session
wait $session || :
expect 0 "$WARDFS" run --mode wasm one.wasm

echo "--- root keeps one object for each owner of sessions, though project and policy are the same"
printf '[policy]\nversion = 1\n[home]\nmode = none\n[env]\nset = LSAN_OPTIONS=detect_leaks=0\n[files]\nwrite = /workspace\n' >"$WARD_TMP/both.policy"
mkdir -p /srv/both
cp one.wasm /srv/both/m.wasm
cd /srv/both
both() { expect 0 "$WARDFS" run --policy "$WARD_TMP/both.policy" --mode wasm m.wasm; }
before=$(count)
both
[ "$(count)" = $((before + 1)) ] || fail "not one more of the first owner"
both
[ "$(count)" = $((before + 1)) ] || fail "the same owner has no use of what was made"
chown -R 4711:4711 .
both
[ "$(count)" = $((before + 2)) ] || fail "another owner has the object of the first"
