#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real programs in every mode: git, make, sqlite, tar, trees as npm makes them, editors' saves.
# timeout: 600
. "$WARD_SRC/tests/cases/fs/_fs.sh"

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
cat >"$WARD_TMP/io.py" <<'END'
import mmap, os, socket, sys
f = open("mm", "w+b")
f.truncate(8192)
m = mmap.mmap(f.fileno(), 8192)
m[0:5] = b"hello"
m[5000:5003] = b"end"
m.flush()
m.close()
f.close()
d = open("mm", "rb").read()
assert d[:5] == b"hello" and d[5000:5003] == b"end", d[:8]
# unlinked but open; reopened through /proc
f = open("gone", "w+b")
f.write(b"still here")
f.flush()
os.unlink("gone")
assert os.fstat(f.fileno()).st_nlink == 0
assert open("/proc/self/fd/%d" % f.fileno(), "rb").read() == b"still here"
os.ftruncate(f.fileno(), 5)
os.fchmod(f.fileno(), 0o600)
assert os.fstat(f.fileno()).st_size == 5
# docs/posix.md: nothing keeps a removed file that is only held by O_PATH, once the end of those who
# had it open is known here, which io_uring tells late
import time
for flags, want in ((os.O_RDONLY, 0), (os.O_PATH, 116)):
    open("gone", "w").close()
    fd = os.open("gone", flags)
    assert os.fstat(fd).st_nlink == 1
    os.unlink("gone")
    for tries in range(1200 if want else 1):
        try:
            os.fstat(fd), os.close(os.open("/proc/self/fd/%d" % fd, os.O_RDONLY))
            got = 0
        except OSError as e:
            got = e.errno
        if got == want:
            break
        time.sleep(0.05)
    assert got == want, got
    os.close(fd)
# RLIMIT_FSIZE holds, whoever writes
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10000, unlimited[1]))
fd = os.open("limited", os.O_RDWR | os.O_CREAT, 0o644)
src = os.open("/bin/true", os.O_RDONLY)
assert os.write(fd, b"x" * 20000) == 10000
for what in (lambda: os.write(fd, b"x"), lambda: os.ftruncate(fd, 10001), lambda: os.pwrite(fd, b"x", 10000),
             lambda: os.posix_fallocate(fd, 0, 10001), lambda: os.sendfile(fd, src, 0, 1)):
    try:
        what()
        raise SystemExit("larger than RLIMIT_FSIZE")
    except OSError as e:
        assert e.errno == 27, e
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
assert os.pwrite(fd, b"x", 10000) == 1 and os.fstat(fd).st_size == 10001
os.close(fd)
# O_APPEND set and cleared by F_SETFL
import fcntl
fd = os.open("ap", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
os.write(fd, b"12345")
os.lseek(fd, 0, 0)
os.write(fd, b"678")
# docs/posix.md: a passthrough handle goes on appending
if sys.argv[1] not in ("root", "other"):
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)
os.lseek(fd, 0, 0)
os.write(fd, b"A")
want = b"12345678A" if sys.argv[1] in ("root", "other") else b"A2345678"
assert open("ap", "rb").read() == want, open("ap", "rb").read()
# names, 255 bytes long, of any bytes
for n in (b"n" * 255, b"new\nline", b"\x01\x1b[31m", b"\xff\xfe", b"a b'\"\\"):
    with open(n, "wb") as g:
        g.write(n)
    assert n in os.listdir(b".") and open(n, "rb").read() == n
    os.unlink(n)
try:
    open(b"n" * 256, "wb")
    raise SystemExit("a name of 256 bytes")
except OSError as e:
    assert e.errno == 36, e
# offsets of listings hold across other reads
os.mkdir("many")
for i in range(500):
    open("many/%d" % i, "w").close()
assert len(os.listdir("many")) == 500
assert len({e.inode() for e in os.scandir("many")}) == 500
# extended attributes
os.setxattr("mm", b"user.x", b"y" * 100)
assert os.getxattr("mm", "user.x") == b"y" * 100 and os.listxattr("mm") == ["user.x"]
os.removexattr("mm", "user.x")
for n, want in (("security.capability", 1), ("trusted.x", 1), ("system.x", 95), ("no.x", 95)):
    try:
        os.setxattr("mm", n, b"\x01\x00\x00\x02" + b"\0" * 16)
        raise SystemExit(n)
    except OSError as e:
        assert e.errno == want, (n, e)
# renames that exchange, and that must not replace
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("x1/in")
open("x2", "w").close()
assert libc.renameat2(-100, b"x1", -100, b"x2", 2) == 0
assert os.path.isdir("x2/in") and os.path.isfile("x1")
assert libc.renameat2(-100, b"x1", -100, b"x2", 1) == -1 and ctypes.get_errno() == 17
assert libc.renameat2(-100, b"x1", -100, b"x3", 1) == 0 and os.path.isfile("x3")
assert libc.renameat2(-100, b"x3", -100, b"x4", 4) == -1 and ctypes.get_errno() in (22, 1)
s = socket.socket(socket.AF_UNIX)
s.bind("sock")
os.posix_fallocate(os.open("fa", os.O_RDWR | os.O_CREAT), 0, 100000)
assert os.stat("fa").st_size == 100000
a = os.open("ap", os.O_RDONLY)
b = os.open("cfr", os.O_WRONLY | os.O_CREAT)
assert os.copy_file_range(a, b, 100) == os.stat('ap').st_size
assert os.lseek(os.open('mm', os.O_RDONLY), 0, os.SEEK_DATA) == 0
st = os.statvfs(".")
assert st.f_namemax == 255
# setuid goes with the first write by a process without CAP_FSETID
if os.geteuid():
    fd = os.open("suid", os.O_RDWR)
    assert os.stat("suid").st_mode & 0o4000
    os.write(fd, b"x")
    os.close(fd)
    assert not os.stat("suid").st_mode & 0o4000
END
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
