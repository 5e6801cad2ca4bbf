#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [process] python = restricted refuses some versions and commands by name. With
# WARD_RESTRICTEDPYTHON (a directory with the package), also what a script is refused, with
# controls.
# timeout: 300
set -eu
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
mount --bind "$WARD_BUILD" /mnt
mount -t tmpfs tmpfs /srv
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
HOME=/srv/home
export HOME
mkdir -p $HOME
cd /srv
project p
cd p
PYTHON=$(readlink -f /usr/bin/python3)
cat >../policy <<P
[policy]
version = 1
extends = medium
[process]
python = restricted
import = math
import = json
[limits]
command = 3s
P
echo 'print("ran", argv)' >script.py
run() { "$WARDFS" run --policy ../policy "$@"; }
# A virtual environment, which is one by its file and the link to its interpreter.
mkdir -p ../venv/bin "../venv/lib/$(basename "$PYTHON")/site-packages"
ln -s "$PYTHON" ../venv/bin/python3
printf 'home = /usr/bin\nversion = 3\n' >../venv/pyvenv.cfg
site=../venv/lib/$(basename "$PYTHON")/site-packages
version() {
	rm -rf "$site"/*.dist-info
	mkdir "$site/restrictedpython-$1.dist-info"
	printf 'Metadata-Version: 2.1\nName: RestrictedPython\nVersion: %s\n' "$1" >"$site/restrictedpython-$1.dist-info/METADATA"
}
PATH=/srv/venv/bin:$PATH
export PATH

echo "--- refused by name: none, and older ones"
expect 125 run script.py
has "$ERR" "has no RestrictedPython; fix: pip install 'RestrictedPython>=8.4'"
for v in 4.0b3 7.0 8.3 8.4.dev0 8.4rc1; do
	version $v
	expect 125 run script.py
	has "$ERR" "RestrictedPython $v is too old, 8.4 or newer is needed"
done

echo "--- refused: other commands, other modes"
for command in "id" "python3 -c 1" "python3 -m json script.py" "sh script.py"; do
	# shellcheck disable=SC2086
	expect 2 run $command
	has "$ERR" "[process] python = restricted: the command is SCRIPT.py or python3 SCRIPT.py"
done
for mode in wasm process none; do
	rc=0
	run --mode $mode script.py >out 2>err || rc=$?
	[ $rc -eq 125 ] || [ $rc -eq 2 ] || fail "mode $mode: $rc $(cat out err)"
	! grep -q '^ran' out || fail "mode $mode ran it"
done
printf '[policy]\nversion = 1\n[process]\nimport = _io\n' >../bad
expect 2 "$WARDFS" run --policy ../bad script.py
has "$ERR" "no module of Python"

if [ -z "${WARD_RESTRICTEDPYTHON-}" ]; then
	# Debian has 4.0b3 alone, and the registry of Python is no source of a test.
	echo "not tried: scripts, for want of RestrictedPython 8.4 (WARD_RESTRICTEDPYTHON=DIRECTORY)"
	exit 0
fi
version 8.4
cp -r "$WARD_RESTRICTEDPYTHON/RestrictedPython" "$site/"

echo "--- the control: a script, its arguments and modules"
expect 0 run -s ran script.py one "t w o"
[ "$OUT" = "ran ['script.py', 'one', 't w o']" ] || fail "a script: $OUT"
expect 0 "$WARDFS" audit show ran
has "$OUT" '"about":"RestrictedPython"'
has "$OUT" '"seccomp":"strict"'
cp "$WARD_SRC/tests/cases/run/lib/python-restricted-try.py" try.py
expect 0 run python3 try.py
[ "$OUT" = "4.0 [0, 2, 4] {\"a\": 1} 2 0 1 2
os refused
codecs refused
attribute refused
format refused
open refused
class refused
[1, [2, 3], {'a': 4}]
done" ] || fail "what a script is refused: $OUT"
# Each of these is there for a script that nothing confines.
sed 's/^def t(/def t_(/; 1i def t(what, act): print(what, "works" if act() else "works not")' try.py >free.py
expect 0 "$WARDFS" run -- python3 free.py
hasnt "$OUT" refused
echo 'x = ().__class__' >private.py
expect 1 run private.py
has "$ERR" '"__class__" is an invalid attribute name'
printf 'import math\nprint(math.squirt)\n' >misspelled.py
expect 1 run misspelled.py
has "$ERR" "'module' object has no attribute 'squirt'"
echo '1 / 0' >zero.py
expect 1 run zero.py
has "$ERR" ZeroDivisionError
echo 'while True: pass' >loop.py
expect 124 run loop.py
has "$ERR" "[limits] command = 3s: the script was ended"
# Nor does a function in C that computes go on, which answers no signal of Python's.
echo 'sum(range(10 ** 15))' >long.py
expect 124 run long.py
has "$ERR" "[limits] command = 3s: the script was ended"
# Its own end is the script's.
echo 'print(input()); raise SystemExit(7)' >seven.py
echo hello | expect 7 run seven.py

echo "--- an environment that a session could change"
cp -r ../venv venv
expect 125 env PATH="$PWD/venv/bin:/usr/bin:/bin" "$WARDFS" run --policy ../policy script.py
has "$ERR" "/srv/p/venv/bin/python3 lies in the project, where a session could replace"
