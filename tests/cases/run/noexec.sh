#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trees under a noexec rule: the guard refuses execve, and the mounts are noexec, so that neither
# the loader nor a library call maps code from there. As root and as an ordinary user.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >noexec.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
loader=$(python3 -c '
import re
print(re.search(rb"/lib[a-z0-9]*/ld-[a-z0-9._-]+", open("/bin/true", "rb").read()).group().decode())') ||
	fail "no loader"
library=$(python3 -c '
import ctypes
ctypes.CDLL("libm.so.6")
print([l.split()[-1] for l in open("/proc/self/maps") if "libm.so" in l or "libm-" in l][0])') ||
	fail "no library"
project p
mkdir -p p/dl p/inner other data
for d in p p/dl other data; do
	cp /bin/true "$d/prog"
	cp "$library" "$d/lib.so"
done
cd p || exit 1
# policy NAME RULE...: the same trees each time
policy() {
	name=$1
	shift
	cat >"$name.policy" <<E
[policy]
version = 1
[tree /workspace]
source = .
[tree /workspace/inner]
source = ../other
at = none
[tree /data]
source = $WARD_TMP/data
[tree /scratch]
source = tmpfs:16M
[files]
write = /workspace
write = /data
write = /scratch
E
	for rule; do
		echo "noexec = $rule" >>"$name.policy"
	done
}
# Tries what is in each directory: by execve, by the loader, as a library.
try='
cp prog lib.so /scratch
for d in $0; do
	"$d/prog" && a=exec || a=-
	"$1" "$d/prog" && b=loader || b=-
	python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$d/lib.so" && c=library || c=-
	echo "$d $a $b $c"
done 2>/scratch/said'
tried() { # tried POLICY PLACES
	"$WARDFS" run --policy "$1.policy" -- sh -c "$try" "$2" "$loader" 2>.err
}
places="/workspace /workspace/inner /data $WARD_TMP/data /scratch"
policy open
OUT=$(tried open "$places")
[ "$OUT" = "/workspace exec loader library
/workspace/inner exec loader library
/data exec loader library
$WARD_TMP/data exec loader library
/scratch exec loader library" ] || fail "control: $OUT $(cat .err)"
# A rule about a whole tree applies to its mount, too.
policy closed /workspace/inner /data /scratch
OUT=$(tried closed "$places")
[ "$OUT" = "/workspace exec loader library
/workspace/inner - - -
/data - - -
$WARD_TMP/data - - -
/scratch - - -" ] || fail "closed: $OUT $(cat .err)"
# The reasons: the guard's, and the mount's where the loader maps.
expect 126 "$WARDFS" run --policy closed.policy -- /data/prog
expect 127 "$WARDFS" run --policy closed.policy -- "$loader" /data/prog
has "$ERR" "failed to map segment"
expect 0 "$WARDFS" run --policy closed.policy -- "$loader" /workspace/prog
# A rule above the trees covers them all; the system's programs are in none.
policy all /
OUT=$(tried all "$places")
[ "$OUT" = "/workspace - - -
/workspace/inner - - -
/data - - -
$WARD_TMP/data - - -
/scratch - - -" ] || fail "all: $OUT $(cat .err)"
# The guard alone enforces a rule about part of a tree: see docs/adr/0022.
policy part /workspace/dl '/dat?'
OUT=$(tried part "/workspace/dl /data")
[ "$OUT" = "/workspace/dl - loader library
/data - loader library" ] || fail "part: $OUT $(cat .err)"
# And stays a directory like others: files come into it without a copy, and it goes.
expect 0 "$WARDFS" run --policy part.policy -- sh -ec 'mv prog dl/in; rm -r dl; mkdir dl'
S
cp noexec.body noexec.sh
chmod 755 "$WARD_TMP"
sh ./noexec.sh || fail "as root"
as_user "$WARD_TMP/noexec.sh" || fail "as an ordinary user"
