#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attack --repeat, --seed, --facts and --report: an attempt that is broken in one of several
# runs is broken; a seed shuffles the order; facts move the workspace for the inside and not for the
# controls; the page has every attempt and no script.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

ATTACK="$WARD_BUILD/wardfs attack"
mkdir project && cd project
field() { # field FILE NAME FIELD
	python3 -c '
import json, sys
print(*(a[sys.argv[3]] for a in json.load(open(sys.argv[1]))["attempts"] if a["name"] == sys.argv[2]))' "$@"
}

echo "--- broken in one run of three"
# A sandbox that lets out the second time only.
cat >"$WARD_TMP/now-and-then" <<S
#!/bin/sh
echo >>"$WARD_TMP/times"
case \$(wc -l <"$WARD_TMP/times") in
2) exec "\$@" ;;
*) exec unshare --net --fork --kill-child -- "\$@" ;;
esac
S
chmod 755 "$WARD_TMP/now-and-then"
expect 0 $ATTACK --json --only tcp-loopback --sandbox "unshare --net --fork --kill-child --"
expect 1 $ATTACK --json --only tcp-loopback --repeat 3 --sandbox "$WARD_TMP/now-and-then"
echo "$OUT" >../thrice.json
[ "$(field ../thrice.json tcp-loopback verdict) $(field ../thrice.json tcp-loopback runs) $(field ../thrice.json tcp-loopback broke)" = \
	"broken 3 1" ] || fail "$(cat ../thrice.json)"
for wrong in 0 -1 1001 x; do
	expect 2 $ATTACK --repeat "$wrong"
done

echo "--- a seed shuffles, the same each time"
order() {
	rm -f "$WARD_TMP/order"
	$ATTACK --group network --seed "$1" --sandbox "$WARD_TMP/listener" >/dev/null || :
	[ -s "$WARD_TMP/order" ] || fail "control: nothing was heard"
	md5sum <"$WARD_TMP/order"
}
cat >"$WARD_TMP/listener" <<S
#!/bin/sh
tee -a "$WARD_TMP/heard" | "\$@"
S
sed -i "s|tee -a .*|sed -u -n 'p; /^ready/w $WARD_TMP/order' \| \"\\\$@\"|" "$WARD_TMP/listener"
chmod 755 "$WARD_TMP/listener"
one=$(order 1) again=$(order 1) two=$(order 2) none=$(order 0)
[ "$one" = "$again" ] && [ "$one" != "$two" ] && [ "$one" != "$none" ] || fail "orders: $one $again $two $none"

echo "--- facts of the sandbox"
cat >"$WARD_TMP/elsewhere" <<S
#!/bin/sh
work=\$1
shift
exec unshare --mount -- sh -euc 'mkdir -p "$WARD_TMP/inside"; mount --bind "\$0" "$WARD_TMP/inside"; exec "\$@"' "\$work" "\$@"
S
chmod 755 "$WARD_TMP/elsewhere"
echo "work=$WARD_TMP/inside" >../facts.ini
expect 1 $ATTACK --json --only read-symlink,read-path --facts ../facts.ini --sandbox "$WARD_TMP/elsewhere {work}"
echo "$OUT" >../facts.json
[ "$(field ../facts.json read-symlink verdict)" = broken ] || fail "$OUT"
echo "nonsense" >../wrong.ini
expect 2 $ATTACK --only read-path --facts ../wrong.ini --sandbox "env --"
echo "$ERR" | grep -q 'wrong.ini:1: this is no fact' || fail "$ERR"
expect 2 $ATTACK --only read-path --facts ../none.ini --sandbox "env --"

echo "--- a page"
expect 1 $ATTACK --only read-path,keep-home --report page.html --sandbox "env --"
for word in read-path keep-home '<td>broken</td>' '<h2>outside</h2>'; do
	grep -qF "$word" page.html || fail "the page lacks $word"
done
! grep -qi '<script' page.html || fail "the page has a script"

echo "--- reports in a directory that an agent wrote"
# A control for each: a plain name is written, and a file that is there is replaced.
mkdir "$WARD_TMP/target" planted
for option in junit sarif report; do
	echo kept >"$WARD_TMP/target/file"
	rm -f planted/*
	expect 1 $ATTACK --only read-path --$option planted/new --sandbox "env --"
	echo old >planted/new
	expect 1 $ATTACK --only read-path --$option planted/new --sandbox "env --"
	grep -q read-path planted/new || fail "--$option: $(cat planted/new)"
	rm planted/new
	ln -s "$WARD_TMP/target/file" planted/link
	ln -s "$WARD_TMP/target" planted/above
	mkfifo planted/pipe
	for name in link above/file pipe; do
		expect 125 $ATTACK --only read-path --$option "planted/$name" --sandbox "env --"
		echo "$ERR" | grep -q "cannot write planted/$name: " || fail "--$option $name: $ERR"
	done
	[ "$(cat "$WARD_TMP/target/file")" = kept ] || fail "--$option went through a link"
	[ -p planted/pipe ] && [ -L planted/link ] || fail "--$option replaced what is no file"
	rm planted/above
	[ "$(ls -A planted | tr '\n' ' ')" = "link pipe " ] || fail "left: $(ls -A planted)"
done
