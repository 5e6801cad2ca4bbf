#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: a module misleads its translator. A stand-in for wasm2c looks around in its sandbox: it
# finds no file of any project, nothing of /opt and /usr/local, and no network. One project's
# object is never another project's or another policy's. After an upgrade of the tools, no session
# gets what the old ones made.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to put something in the place of /usr/bin/wasm2c"
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
clang --target=wasm32-wasi --sysroot=/usr -O1 -x c - -o try.wasm <<'C'
#include <stdio.h>
int main(void) { return puts("translated") < 0; }
C
# Beneath /tmp, where a checkout may lie, a policy can list no program.
mount --bind "$WARD_BUILD" /mnt
WARDFS=/mnt/wardfs
mount -t tmpfs tmpfs /opt
mkdir /opt/one /opt/two
for p in one two; do
	echo "TOKEN=s3cret-$p" >"/opt/$p/.env"
	cp try.wasm "/opt/$p"
done
cat >wasm2c <<'C'
#!/bin/sh
for f in /opt/one/.env /opt/two/.env /usr/local/bin /proc/1/root/opt/one/.env; do
	[ ! -r "$f" ] || echo "reads $f: $(head -c 20 "$f" 2>&1)" >&2
done
grep -q : /proc/net/route && echo "reads a way out" >&2
echo "looked round" >&2
exit 1
C
chmod 755 wasm2c
./wasm2c 2>seen && fail "the stand-in"
grep -q 's3cret-two' seen || fail "control: it does not look: $(cat seen)"
(
	real=$(readlink -f /usr/bin/wasm2c)
	mount --bind wasm2c "$real"
	cd /opt/one
	expect 2 "$WARDFS" run --mode wasm try.wasm
	has "$ERR" "looked round"
	hasnt "$ERR" "reads"
	hasnt "$ERR" "s3cret"
	umount "$real"
)
for p in one two; do
	cd /opt/$p
	expect 0 "$WARDFS" run --mode wasm try.wasm
	[ "$OUT" = translated ] || fail "$p: $OUT"
done
objects() { find "$XDG_STATE_HOME" -name '*.so' | wc -l; }
[ "$(objects)" = 2 ] || fail "$(objects) objects of two projects"
expect 0 "$WARDFS" run --mode wasm try.wasm
[ "$(objects)" = 2 ] || fail "control: the second run translates again"
printf '[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/x\n' >/opt/other.policy
expect 0 "$WARDFS" run --policy /opt/other.policy --mode wasm try.wasm
[ "$(objects)" = 3 ] || fail "$(objects) objects with another policy"

# An upgrade replaces a file. Then a fixed tool translates again what the old one did.
upgraded() { # upgraded TOOL OBJECTS: with a copy in its place there are so many
	real=$(readlink -f "/usr/bin/$1")
	cp --preserve=all "$real" "$WARD_TMP/upgraded-$1"
	mount --bind "$WARD_TMP/upgraded-$1" "$real"
	for again in first second; do
		expect 0 "$WARDFS" run --mode wasm try.wasm
		[ "$OUT" = translated ] || fail "$1, $again: $OUT"
		[ "$(objects)" = "$2" ] || fail "$1, $again: $(objects) objects, not $2"
	done
	umount "$real"
}
upgraded wasm2c 4
upgraded gcc 5
expect 0 "$WARDFS" run --mode wasm try.wasm
[ "$(objects)" = 5 ] || fail "control: the old tools translate again what they did"
