# SPDX-License-Identifier: Apache-2.0
# Part of ../records.sh.
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
