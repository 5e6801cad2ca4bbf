#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
# shellcheck disable=SC2016
# What a record says beside the path: which file (dev, ino), what was replaced, sizes before and
# after, rights asked and given, which process a thread belongs to; locks; what others changed.
. "$WARD_SRC/tests/cases/lib.sh"
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
project p
cd p || exit 1

# session NAME LOG CMD…
session() {
	name=$1
	printf '[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/ro\nhide = /workspace/hidden\n[audit]\nlog = %s\n' \
		"$2" >../policy
	shift 2
	expect 0 "$WARDFS" run --policy ../policy --session "$name" -- "$@"
	"$WARDFS" audit verify "$name" >../verdict || fail "$name: $(cat ../verdict)"
	"$WARDFS" audit show --json "$name" >"../$name.jsonl"
}

printf 12345 >old
printf 123 >ro
echo x >hidden
echo x >gone
stat -c '%n %i' old ro gone >../inodes
cat >work.py <<'END'
import errno, fcntl, os, threading
os.rename("new", "old")
os.truncate("old", 2)
fd = os.open("old", os.O_WRONLY | os.O_APPEND)
os.write(fd, b"xyz")
os.close(fd)
for path in "ro", "hidden":
    try:
        os.open(path, os.O_WRONLY)
    except OSError as e:
        print(path, errno.errorcode[e.errno])
os.open("ro", os.O_RDONLY)
os.unlink("gone")
t = threading.Thread(target=lambda: open("by-thread", "w").close())
t.start()
t.join()
# Locks: taken, refused, given back; POSIX with a range, flock without.
a, b = os.open("lock", os.O_RDWR | os.O_CREAT, 0o600), os.open("lock", os.O_RDWR)
fcntl.lockf(a, fcntl.LOCK_EX, 10, 5)
if os.fork() == 0:
    try:
        fcntl.lockf(b, fcntl.LOCK_SH | fcntl.LOCK_NB, 2, 6)
    except OSError as e:
        print("lock", errno.errorcode[e.errno])
    os._exit(0)
os.wait()
fcntl.lockf(a, fcntl.LOCK_UN, 10, 5)
fcntl.flock(a, fcntl.LOCK_SH)
try:
    fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError as e:
    print("flock", errno.errorcode[e.errno])
print("pid", open("/proc/self/status").read().split("NSpid:")[1].split()[0])
END
printf new >new
session io io python3 work.py
# A process with its threads; of another process there is nothing.
main=$(sed -n 's/.*"kind":"exec".*"pid":\([0-9]*\),.*"work.py".*/\1/p' ../io.jsonl | tail -n 1)
"$WARDFS" audit process --json "$main" io >../process 2>../err || fail "process: $(cat ../err)"
grep -q '"path":"/workspace/old"' ../process || fail "not of its own"
if grep '"path":"/workspace/by-thread"' ../io.jsonl | grep -q '"process"'; then # Linux 6.13
	grep -q '"kind":"create".*"path":"/workspace/by-thread"' ../process || fail "not of its thread: $(cat ../process)"
	grep -q '"kind":"exec"' ../process || fail "not its start"
fi
grep -v "\"pid\":$main," ../process | grep -v '"path":"/workspace/by-thread"' >../others
[ ! -s ../others ] || fail "of others: $(cat ../others)"
# What would permit it belongs into the policy that was in force, not into one that was not.
"$WARDFS" audit denials io >../told || fail "denials"
grep -q "in: .*\[files\] of .*/policy\$" ../told || fail "denials: $(cat ../told)"
has "$OUT" "ro EACCES"
has "$OUT" "lock EAGAIN"
has "$OUT" "flock EAGAIN"
cat >../check.py <<'END'
import json, os, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
inode = dict(line.split() for line in open("../inodes"))
inode = {name: int(i) for name, i in inode.items()}
dev = os.stat("old").st_dev
def of(kind, name, **more):
    return [r for r in recs if r["kind"] == kind and r.get("path", "").startswith("/workspace/" + name)
            and all(r.get(k) == v for k, v in more.items())]
files = [r for r in recs if r["kind"] in ("open", "close", "rename", "remove", "attr", "link")]
assert files and all(r["dev"] == dev and r["ino"] for r in files), "a record without its file"
rename, = of("rename", "new")
assert rename["ino2"] == inode["old"] and rename["ino"] == os.stat("old").st_ino, rename
cut, = of("attr", "old")
assert cut["size_before"] == 3 and cut["size"] == 2 and cut["ino"] == rename["ino"], cut
opened = [r for r in of("open", "old") if r["asked"] == ["append"] or r["asked"] == ["write"]][-1]
assert opened["size_before"] == 2 and "given" not in opened, opened
closed = [r for r in of("close", "old") if "size" in r][-1]
assert closed["size"] == 5 and closed["ino"] == rename["ino"], closed
read, = of("open", "ro")
assert read["asked"] == ["read"] and "read" in read["given"] and "write" not in read["given"], read
assert read["size_before"] == 3 and read["ino"] == inode["ro"], read
deny, = of("deny", "ro")
assert deny["ino"] == inode["ro"] and deny["dev"] == dev and "write" in deny["asked"], deny
assert all("ino" not in r for r in of("deny", "hidden")), "of what is hidden nothing is looked at"
gone, = of("remove", "gone")
assert gone["ino"] == inode["gone"] and gone["size_before"] == 2, gone
made, = of("create", "by-thread")
if "process" in made:  # Linux 6.13
    main = next(r for r in recs if r["kind"] == "exec" and r.get("argv", [])[1:] == ["work.py"])
    assert made["process"] == main["pid"] != made["pid"] and made["parent"] == main["parent"], made
    by = [r for r in recs if r["ring"] == 1 and r.get("pid") == main["pid"]]
    assert [("parent" in r) for r in by].count(True) == 1 and "parent" in by[0], "said once"
else:
    assert os.uname().release.split(".") < ["6", "13"], made
locks = [(r["action"], r["lock"], r["offset"], r["length"], r.get("errno")) for r in of("lock", "lock")]
if sys.argv[2] == "io":
    assert locks[:5] == [("lock", "exclusive", 5, 10, None), ("lock", "shared", 6, 2, "EAGAIN"),
        ("lock", "unlock", 5, 10, None), ("flock", "shared", 0, None, None),
        ("flock", "exclusive", 0, None, "EAGAIN")], locks
else:
    assert not locks, locks
END
python3 ../check.py ../io.jsonl io || fail "log = io"

# The same without io: no locks, the rest as before.
rm -f by-thread lock
printf 12345 >old
echo x >gone
printf new >new
stat -c '%n %i' old ro gone >../inodes
session opens opens python3 work.py
python3 ../check.py ../opens.jsonl opens || fail "log = opens"

# The name of the program, where opens follow each other at once: as it is when that changes, by an
# exec, by the program itself, or since the number is that of another thread.
cat >names.py <<'END'
import ctypes, os, sys, time
def burst(name):
    for _ in range(100):
        os.close(os.open("old", os.O_RDONLY))
    os.close(os.open(name, os.O_RDONLY))
for n in range(20):
    if os.fork() == 0:
        burst("ro")
        os.execv("/bin/cat", ["cat", "after-exec"])
    os.wait()
burst("ro")
ctypes.CDLL(None).prctl(15, ctypes.c_char_p(b"other name"), 0, 0, 0)
time.sleep(0.01)
burst("after-rename")
END
: >after-exec
: >after-rename
session names opens python3 names.py
cat >../check.py <<'END'
import collections, json, sys
names = collections.defaultdict(collections.Counter)
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "open" and r["action"] == "open":
        names[r["path"].rsplit("/", 1)[1]][r["comm"]] += 1
assert names["ro"] == {"python3": 21}, names
assert names["old"] == {"python3": 2100, "other name": 100}, names
assert names["after-exec"] == {"cat": 20}, names
assert names["after-rename"] == {"other name": 1}, names
END
python3 ../check.py ../names.jsonl || fail "names of programs"

# What others change while it runs, and not what the session does itself: by handles that pass
# through, by names that come again and again.
cat >others.py <<'END'
import os, time
def wait(name):
    for _ in range(6000):
        if os.path.exists(name):
            return
        time.sleep(0.05)
    raise SystemExit("nobody made " + name)
os.listdir(".")
for i in range(60):
    for name in "mine", "mine.tmp":
        with open(name, "w") as f:
            f.write(str(i) * 5000)
    os.rename("mine.tmp", "mine")
os.unlink("mine")
open("ready", "w").close()
wait("go")
for i in range(60):
    with open("later", "w") as f:
        f.write(str(i))
wait("end")
END
echo old >theirs
echo old >other
trail=$XDG_STATE_HOME/wardfs/sessions/external/trail.jsonl
(
	until [ -e ready ]; do sleep 0.05; done
	echo x >made
	mv other moved
	rm made
	# Told apart only once what the session wrote itself is out of the queue: until it was.
	for _ in $(seq 120); do
		echo more >>theirs
		chmod 640 theirs
		grep -q '"external".*"action":"attr","path":"/workspace/theirs"' "$trail" &&
			grep -q '"external".*"action":"write","path":"/workspace/theirs"' "$trail" && break
		sleep 0.5
	done
	: >go
	for _ in $(seq 120); do
		grep -q '"external".*"path":"/workspace/go"' "$trail" && break
		sleep 0.5
	done
	: >end
) &
helper=$!
session external opens python3 others.py
wait "$helper"
python3 - ../external.jsonl <<'END' || fail "external: $(grep '"external"' ../external.jsonl)"
import collections, json, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
got = collections.defaultdict(set)
for r in recs:
    if r["kind"] == "external":
        assert r["how"] == "observed" and r["ring"] == 1, r
        got[r["path"].rsplit("/", 1)[1]].add(r["action"])
assert {"write", "attr"} <= got["theirs"], got
assert {"create", "remove"} <= got["made"] and "moved-from" in got["other"], got
assert "moved-to" in got["moved"] and "create" in got["go"], got
assert not got.keys() & {"mine", "mine.tmp", "later", "ready"}, got
END
# The control: without opens nothing of it.
rm -f ready go end
(
	until [ -e ready ]; do sleep 0.05; done
	: >go
	: >end
) &
helper=$!
session denials denials python3 others.py
wait "$helper"
grep -q '"external"' ../denials.jsonl && fail "external with log = denials"

# What is done while the last process inside ends is in the trail, before the end; also where a
# thread of the guard still waits, here for a lock that the host has.
rm ready
mkfifo ../last
exec 4>theirs
flock -x 4
(
	exec 3>../last
	until [ -e ready ]; do sleep 0.05; done
	for i in $(seq 30); do : >"last-$i"; done
	echo >&3
) 4>&- &
helper=$!
session lastly opens sh -c 'for i in $(seq 40); do : >"own-$i"; done
flock -x theirs true & flock -x theirs true &
: >ready; read -r x' <../last 4>&-
wait "$helper"
exec 4>&-
[ "$(grep -c '"external".*"action":"create","path":"/workspace/last-' ../lastly.jsonl)" -eq 30 ] ||
	fail "lastly: $(grep -c '"external"' ../lastly.jsonl) of 30"
tail -n 1 ../lastly.jsonl | grep -q '"kind":"session.end"' || fail "lastly: its end is not the last"
exit 0
