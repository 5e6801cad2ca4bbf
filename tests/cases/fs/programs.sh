#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real programs in every mode: git, make, sqlite, tar, npm-like trees, editors' saves.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script work <<'END'
export HOME="$PWD"
mkdir r && cd r
git init -q .
git config user.email a@example.org
git config user.name a
for i in 1 2 3 4 5; do echo "int f$i(void) { return $i; }" >f$i.c; done
cat >main.c <<'C'
#include <stdio.h>
int f1(void), f2(void), f3(void), f4(void), f5(void);
int main(void) { printf("%d\n", f1() + f2() + f3() + f4() + f5()); return 0; }
C
printf 'O = f1.o f2.o f3.o f4.o f5.o main.o\nprog: $(O)\n\t$(CC) -o $@ $(O)\n' >Makefile
make -s -j4 prog
same "$(./prog)" 15
git add -A && git commit -qm one
git checkout -q -b side && echo >>main.c && git commit -qam two
git checkout -q - && git merge -q side
git gc -q
same "$(git status --short)" ""
same "$(git log --oneline | wc -l)" 2
git clone -q . ../clone && git -C ../clone fsck
same "$(sqlite3 db 'create table t(a, b); begin; with recursive c(x) as (select 1 union all
select x + 1 from c where x < 5000) insert into t select x, hex(randomblob(20)) from c; commit;
select count(*) from t;')" 5000
same "$(sqlite3 db 'pragma journal_mode = wal; insert into t values (1, 2);
select count(*) from t; pragma integrity_check' | tr '\n' ' ')" 'wal 5001 ok '
for i in 1 2 3 4 5 6 7 8 9; do
	mkdir -p node_modules/p$i/lib
	echo '{}' >node_modules/p$i/package.json
	ln -s ../package.json node_modules/p$i/lib/link
done
same "$(find node_modules | wc -l)" 37
same "$(cat node_modules/p3/lib/link)" '{}'
rm -r node_modules
tar cf ../all.tar . && mkdir ../copy && tar xf ../all.tar -C ../copy && diff -r . ../copy
# an atomic save, hard and symbolic links, renames over each other
echo old >f && cp -p f f.tmp && echo new >f.tmp && mv f.tmp f && same "$(cat f)" new
ln f g && ln -s g s && same "$(cat s)" new && same "$(stat -c %h f)" 2
rm f && same "$(stat -c %h g)" 1 && same "$(cat g)" new
mkdir a b && mv a b/c && test -d b/c && rmdir b/c
refused "not empty" rmdir ../r
chmod +x f1.c && test -x f1.c && chmod -x f1.c && refused "" test -x f1.c
cp /bin/true exe && ./exe && chmod -x exe && refused "ermission denied" ./exe
touch -d @1000 f2.c && same "$(stat -c %Y f2.c)" 1000
mkfifo pipe && { echo through >pipe & } && same "$(cat pipe)" through && wait
printf abc >t && truncate -s 1 t && same "$(cat t)" a
dd if=/dev/zero of=sparse bs=1 count=1 seek=1000000 2>/dev/null
same "$(stat -c %s sparse)" 1000001 && cp --sparse=always sparse sparse2 && cmp sparse sparse2
END
cp "$WARD_SRC/tests/cases/fs/lib/programs-io.py" "$WARD_TMP/io.py"
for mode in $MODES other; do
	policy
	fresh
	in_mode $mode "$WARD_TMP/work" || fail "$mode: programs"
	fresh
	: >"$BACK/suid" && chown $OWNER "$BACK/suid" && chmod 4755 "$BACK/suid"
	script io <<END
python3 "$WARD_TMP/io.py" $mode
END
	in_mode $mode "$WARD_TMP/io" || fail "$mode: io"
	if grep -E '^(deny|SPOILED)' "$EVENTS"; then fail "$mode: refused under write"; fi
done
