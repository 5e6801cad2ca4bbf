#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy diff` lists the paths that lose or gain rights.
set -eu
. "$WARD_SRC/tests/lib.sh"

# differs STATUS A B [OPTION...]: the output stands in out
differs() {
	want=$1
	shift
	code=0
	"$WARDFS" policy diff "$@" >out 2>err || code=$?
	[ $code -eq "$want" ] || fail "diff $*: exit status $code: $(cat out err)"
}
line() {
	grep -qF -- "$1" out || fail "no line '$1' in: $(cat out)"
}
no_line() {
	! grep -qF -- "$1" out || fail "there is a line '$1': $(cat out)"
}

mkdir -p project/src/deep project/doc
cd project
git init -q .
touch src/a.c src/a.pem src/deep/b.pem doc/x
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\ndeny = *.pem\n[limits]\nwall = 1h\n' >../a
printf '; the same, said otherwise\n[policy]\nversion=1\n[limits]\nwall = 60m\n[files]\nwrite  = /workspace\ndeny = *.pem\n' >../same
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nread = /workspace/src\nhide = *.pem\n[limits]\nwall = 2h\n' >../b

echo "--- equal"
differs 0 ../a ../a
differs 0 medium medium
differs 0 ../a ../same
[ ! -s out ] || fail "$(cat out)"

echo "--- classes"
differs 1 ../a ../b
line '/workspace/src: -append,create,write,remove,attr  ('
line '/workspace/*.pem: -stat,list  ('
line '[files] deny = *.pem -> '
line '[limits] wall: 1h -> 2h'
no_line 'doc'
differs 1 ../b ../a
line '/workspace/src: +append,create,write,remove,attr  ('
differs 1 low medium
line '[tree /workspace] source: tmpfs:256M -> '
line '/workspace/.[Ee][Nn][Vv]: -'

echo "--- a rule that is beaten everywhere makes no difference"
sed 's,^write = ,deny = /workspace/x\n&,' ../a >../c
grep -q '^deny = /workspace/x' ../c
differs 0 ../a ../c
sed 's,^deny = .*,&\nwrite = /workspace/x,' ../a >../c
differs 1 ../a ../c
line '/workspace/x/*.pem: +read'

echo "--- each class that other rules of the same verb decide"
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\ndeny = /workspace/a\ndeny = /workspace/b\n' >../k1
sed 's,b$,&\nread = y,' ../k1 >../k2
differs 1 ../k1 ../k2
line '/workspace/y: -append'
line '/workspace/a/y: +read'
line '/workspace/b/y: +read'

echo "--- the paths of a tree"
differs 1 --tree . ../a ../b
line '/workspace/src: -append'
line '/workspace/src/a.pem: -stat'
line '/workspace/src/deep/b.pem: -stat'
no_line 'a.c'
no_line 'doc'
line '[limits] wall: 1h -> 2h'
mkdir ../empty
sed 's/1h/2h/' ../a >../d
differs 0 --tree ../empty ../d ../b
differs 1 --tree ../empty ../a ../b
differs 1 --tree . --json ../a ../b
python3 - out <<'END'
import json, sys
found = {e.get("path", e.get("key")): e for e in json.load(open(sys.argv[1]))}
src = found["/workspace/src"]
assert src["lost"] == ["append", "create", "write", "remove", "attr"] and src["gained"] == [], src
assert src["rule_a"].endswith("a:4") and src["rule_b"].endswith("b:5"), src
END

echo "--- errors"
differs 2 ../a
differs 2 ../a ../missing
differs 2 --tree ../missing ../a ../b
