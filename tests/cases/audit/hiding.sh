#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an agent does to keep something out of its trail, or to have it look like something else: in
# the middle of a flood, by handles that name no path, in a file without a name, beneath a path that
# is longer than a record, under names that look like records.
. "$WARD_SRC/tests/cases/lib.sh"
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nlog = io\n' >../policy
echo S=1 >.env
echo before >victim
cat >work.py <<'END'
import os, threading
def flood(n):
    for i in range(400):
        try:
            os.open(".env", os.O_RDONLY)
        except PermissionError:
            pass
        if i == 200:
            open(f"needle-{n}", "w").close()
threads = [threading.Thread(target=flood, args=(n,)) for n in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
# By a handle that was given no rights, then without a name.
handle = os.open("victim", os.O_PATH)
fd = os.open(f"/proc/self/fd/{handle}", os.O_RDWR)
os.write(fd, b"by handle")
os.unlink("victim")
os.pwrite(fd, b"nameless", 100)
os.ftruncate(fd, 3)
os.close(fd)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
os.write(fd, b"no name at all")
os.close(fd)
for byte in range(1, 256):
    if byte != ord("/"):
        open(b"name" + bytes([byte]), "w").close()
open('x","mac":"' + "0" * 64 + '"}', "w").close()
open('{"v":1,"seq":3,"session":"a","kind":"gap"', "w").close()
# Two files that differ where no record has room left, one of which replaces the other.
for i in range(30):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
for name in "left", "right":
    with open(name, "w") as f:
        print("deep", name, os.fstat(f.fileno()).st_ino)
os.rename("left", "right")
END
inode=$(stat -c %i victim)
expect 0 "$WARDFS" run --policy ../policy --session hiding -- python3 work.py
echo "$OUT" >../told
"$WARDFS" audit verify hiding >../verdict || fail "$(cat ../verdict)"
state=$XDG_STATE_HOME/wardfs
"$WARDFS" audit key show hiding >../vkey
"$WARDFS" audit verify --key ../vkey "$state/sessions/hiding/trail.jsonl" >../verdict || fail "public: $(cat ../verdict)"
python3 "$WARD_SRC/tests/support/verify.py" "$state" hiding >../verdict || fail "the second verifier: $(cat ../verdict)"
python3 - "$state/sessions/hiding/trail.jsonl" "$inode" ../told <<'END' || fail "see above"
import json, sys
recs = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
victim = int(sys.argv[2])
deep = {w[1]: int(w[2]) for w in (line.split() for line in open(sys.argv[3])) if w and w[0] == "deep"}
def of(kind, **more):
    return [r for r in recs if r["kind"] == kind and all(r.get(k) == v for k, v in more.items())]
refused = of("deny", path="/workspace/.env")
assert len(refused) == 8 * 400, len(refused)
made = {r["path"] for r in of("create", action="create")}
assert {f"/workspace/needle-{n}" for n in range(8)} <= made, "a needle is lost"
for n in range(8):  # each in its place among the refusals of its thread
    at = of("create", path=f"/workspace/needle-{n}")[0]
    mine = [r["pos"] for r in refused if r["pid"] == at["pid"]]
    assert sum(p < at["pos"] for p in mine) == 201 and len(mine) == 400, (n, len(mine))
assert len(of("open", ino=victim)) == 1 and len(of("remove", ino=victim)) == 1
# (its number can be given again)
written = of("io", ino=victim, path="/workspace/victim")
assert [(r["offset"], r["written"]) for r in written] == [(0, 9), (100, 8)], written
assert of("attr", ino=victim)[0]["size"] == 3, of("attr", ino=victim)
assert of("io", written=14), "the file without a name"
assert len({p for p in made if p.startswith("/workspace/name")}) == 254, "two names look alike"
left, right = deep["left"], deep["right"]
rename, = [r for r in of("rename") if r["ino"] == left]
assert rename["ino2"] == right and rename["cut"], rename
for name, ino in deep.items():
    r = of("create", ino=ino)[0]
    assert r["cut"] and r["path"].endswith("/" + name) and len(r["path"]) < 5000, r["path"][-40:]
assert not of("gap") and recs[-1]["kind"] == "session.end"
END
