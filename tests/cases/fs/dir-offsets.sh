#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Directory positions (d_off, telldir) reveal nothing about hidden names. The backing's own
# positions would: on ext4 a position is the hash of the next name, on other file systems a count.
# The test's directories need more than one block from the start, because ext4 swaps "." and ".."
# when a directory outgrows its first block.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

LIST=$WARD_TMP/list.py
OUT=$WARD_TMP/out
cp "$WARD_SRC/tests/cases/fs/lib/dir-offsets.py" "$LIST"
mkdir "$OUT"
chmod 777 "$OUT"

script inside <<END
list() { python3 '$LIST' "\$@"; }
run=\$1
for size in 32768 300; do
	list \$size a b >'$OUT'/\$run.\$size
	same "\$(cut -d' ' -f1,2 '$OUT'/\$run.\$size | sort -u | wc -l)" 2004
	same "\$(wc -l <'$OUT'/\$run.\$size)" 2004
done
cmp '$OUT'/\$run.32768 '$OUT'/\$run.300 || fail "a position depends on the part that it is in"
ls -la a b >'$OUT'/ls
list 32768 . | awk '\$2 ~ /^[.]/ { print \$3 }' | sort -u >'$OUT'/\$run.above
# the host makes hidden names among the others
python3 -c "
for i in range(300): open('$BACK/a/h%d.pem' % i, 'w').close()"
touch a/new && rm a/new
list 300 a b >'$OUT'/\$run.more
cmp '$OUT'/\$run.300 '$OUT'/\$run.more || fail "hidden names changed a position"
python3 -c "
import os
for i in range(300): os.unlink('$BACK/a/h%d.pem' % i)"
END

# positions WHAT WHERE: those of the entries of a directory
positions() {
	awk -v w="$2" '$1 == w { print $4 }' "$1" | sort
}

# apart A B WHAT: no line is in both
apart() {
	[ -z "$(comm -12 "$1" "$2")" ] || fail "$mode: $3: $(comm -12 "$1" "$2" | wc -l) positions"
}

policy 'hide = *.pem'
for mode in $MODES; do
	fresh
	as_owner python3 -c "
import os
for d in 'a', 'b':
    os.mkdir('$BACK/' + d)
    for i in range(1000): open('$BACK/%s/f%d' % (d, i), 'w').close()
    if d == 'a': open('$BACK/a/key.pem', 'w').close()"
	# the control: positions of the backing are the same each time, and where names are the same
	# mostly so as well
	python3 "$LIST" 32768 "$BACK/a" "$BACK/b" >"$OUT/back"
	python3 "$LIST" 300 "$BACK/a" "$BACK/b" >"$OUT/back.300"
	cmp "$OUT/back" "$OUT/back.300" || fail "positions of the backing"
	[ "$(wc -l <"$OUT/back")" = 2005 ] || fail "the backing"
	positions "$OUT/back" a >"$OUT/back.a"
	positions "$OUT/back" b >"$OUT/back.b"
	[ "$(comm -12 "$OUT/back.a" "$OUT/back.b" | wc -l)" -gt 900 ] || echo "this backing gives each directory its own"
	[ "$(python3 "$LIST" 32768 "$BACK" | awk '$2 ~ /^[.]/ { print $3 }' | sort -u | wc -l)" = 2 ] || fail "above the backing"
	for run in 1 2; do
		in_mode "$mode" "$WARD_TMP/inside" $run || fail "$mode"
		positions "$OUT/$run.300" a >"$OUT/$run.a"
		positions "$OUT/$run.300" b >"$OUT/$run.b"
		apart "$OUT/$run.a" "$OUT/back.a" "the backing's own"
		apart "$OUT/$run.b" "$OUT/back.b" "the backing's own"
		apart "$OUT/$run.a" "$OUT/$run.b" "two directories alike"
		[ "$(wc -l <"$OUT/$run.above")" = 1 ] || fail "$mode: the number of the directory above the backing"
	done
	apart "$OUT/1.b" "$OUT/2.b" "two mounts"
done
